#pragma once
// Named arrays in NumPy's .npz archives (numpy.savez, numpy.savez_compressed): zip files with a .npy file per array.
#include <string>
#include <vector>

#include "gradcomp/data/formats/npy.hpp"

namespace gradcomp::data {

struct NamedArray {
  std::string name;  ///< the keyword given to numpy.savez, or arr_0, arr_1, ...
  NpyArray array;
};

/// The arrays in the order in which they were stored. If the file is not a zip file, holds no array or more than
/// 65,535, holds two of one name, or needs more bytes than it has, or if an array is damaged or refused by read_npy(),
/// throws Error that names the file and the array.
std::vector<NamedArray> read_npz(const std::string& path);

}  // namespace gradcomp::data
