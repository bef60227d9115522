#pragma once
// GCDS, the project's own container for small image sets, written by tools/datasets. Little endian:
//   magic "GCDS", u32 version, u32 n_train, u32 n_test, u32 height, u32 width, u32 channels, u32 classes,
//   n_train + n_test records (train first) of the label (version 1: u8, up to 256 classes; 2: u16, up to 65536) and
//   height x width x channels u8 pixels (HWC), u32 CRC-32 (zlib's) of all bytes before it.
#include <string>

#include "gradcomp/data/dataset.hpp"

namespace gradcomp::data {

/// Reads and checks the whole file: magic, version, extents, size, checksum, labels. Throws Error naming the file, what
/// was found and what was expected. Mean, std and crc are left to describe().
ImageData read_gcds(const std::string& path);

}  // namespace gradcomp::data
