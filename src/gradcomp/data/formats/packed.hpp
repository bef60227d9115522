#pragma once
// Larger image sets, which tools/datasets makes from a folder of images: GCDS files (gcds.hpp), each with a share of
// the training images and of the test images, and a text file "index.txt":
//   GCDS-INDEX 1
//   CRC N_TRAIN N_TEST FILE      one line per file: the checksum at its end (8 hex digits), its counts, its name
#include <string>

#include "gradcomp/data/dataset.hpp"

namespace gradcomp::data {

/// Reads a GCDS file, or the files of a folder in the order of its index. Throws Error that names the file if it is
/// missing, is not the one that the index lists, or has images of another shape. describe() fills in mean, std and crc.
ImageData read_packed(const std::string& path);

}  // namespace gradcomp::data
