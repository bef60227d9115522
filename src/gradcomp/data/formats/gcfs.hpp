#pragma once
// GCFS, this project's file format for labelled sequences of feature frames, written by tools/datasets. Little endian:
//   magic "GCFS", u32 version = 1, u32 n_train, u32 n_test, u32 features, u32 classes;
//   n_train + n_test records (training sequences first): u32 label, u32 frames (at least 1), frames x features f32;
//   u32 CRC-32 (zlib's) of all bytes before it.
#include <string>

#include "gradcomp/data/frames.hpp"

namespace gradcomp::data {

/// Reads the file and checks magic, version, extents, size, checksum, labels and that all values are finite. Throws
/// Error that names the file, what was found and what was expected. describe() fills in mean, std and crc.
FrameData read_gcfs(const std::string& path);

}  // namespace gradcomp::data
