#pragma once
// GCFS, the project's own container for sequences of feature frames, written by tools/datasets. Little endian:
//   magic "GCFS", u32 version = 1, u32 n_train, u32 n_test, u32 features, u32 classes,
//   n_train + n_test records (train first) of u32 label, u32 frames (at least 1), frames x features f32,
//   u32 CRC-32 (zlib's) of all bytes before it.
#include <string>

#include "gradcomp/data/frames.hpp"

namespace gradcomp::data {

/// Reads and checks the whole file: magic, version, extents, size, checksum, labels, values (finite). Throws Error
/// naming the file, what was found and what was expected. Mean, std and crc are left to describe().
FrameData read_gcfs(const std::string& path);

}  // namespace gradcomp::data
