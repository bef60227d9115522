#pragma once
// Named arrays as NumPy's .npz archives (numpy.savez, numpy.savez_compressed): a zip file with a .npy file for each.
#include <string>
#include <vector>

#include "gradcomp/data/formats/npy.hpp"

namespace gradcomp::data {

struct NamedArray {
  std::string name;  ///< as it was given to numpy.savez
  NpyArray array;
};

/// The arrays in the order in which they were stored. Throws Error naming the file, and the array where it is one: no
/// zip file, no array in it, a damaged one, or what read_npy() refuses.
std::vector<NamedArray> read_npz(const std::string& path);

}  // namespace gradcomp::data
