#pragma once
// Larger image sets, as tools/datasets packs a folder of images: GCDS files (gcds.hpp), each with a share of the
// training and of the test images, and a text file "index.txt":
//   GCDS-INDEX 1
//   CRC N_TRAIN N_TEST FILE      a line per file: its last four bytes as 8 hex digits, its counts, its name
#include <string>

#include "gradcomp/data/dataset.hpp"

namespace gradcomp::data {

/// Reads a GCDS file, or a folder of such and its index, in the order of the index. Throws Error naming the file when
/// one is missing, is not the one that the index lists, or has images of another shape. Mean, std and crc are left to
/// describe().
ImageData read_packed(const std::string& path);

}  // namespace gradcomp::data
