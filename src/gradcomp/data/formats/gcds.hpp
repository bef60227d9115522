#pragma once
// GCDS, this project's file format for labelled images of one size, written by tools/datasets. Little endian:
//   magic "GCDS", u32 version, u32 n_train, u32 n_test, u32 height, u32 width, u32 channels, u32 classes;
//   n_train + n_test records (training images first): the label (version 1: u8, up to 256 classes; version 2: u16, up
//   to 65536 classes) and height x width x channels u8 pixels in this order (HWC);
//   u32 CRC-32 (zlib's) of all bytes before it.
#include <string>

#include "gradcomp/data/dataset.hpp"

namespace gradcomp::data {

/// Reads the file and checks magic, version, extents, size, checksum and labels. Throws Error that names the file, what
/// was found and what was expected. describe() fills in mean, std and crc.
ImageData read_gcds(const std::string& path);

}  // namespace gradcomp::data
