#pragma once
// Arrays as NumPy's .npy files (numpy.lib.format, versions 1.0 to 3.0): how gradients come in and go out.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp::data {

/// A float array in C order (last extent fastest).
struct NpyArray {
  std::vector<index_t> shape;  ///< empty: a scalar, one element
  std::vector<float> values;   ///< product of the extents
};

/// Reads floats of 2, 4 or 8 bytes, little endian, of any shape; arrays in Fortran order are transposed. Doubles are
/// rounded to float. Throws Error naming the file and what is wrong with it: no .npy file, another version, a header
/// that is no description of an array, another element type, data that are too short or too long.
NpyArray read_npy(const std::string& path);

/// The same from the content of such a file; `name` stands in messages.
NpyArray parse_npy(const std::string& name, std::span<const std::uint8_t> bytes);

/// `array` as a gradient. Throws Error naming `name` where it has no element, or one that is not finite.
NpyArray as_gradient(const std::string& name, NpyArray array);

/// Writes `values` (the product of `shape` floats, C order) as version 1.0, '<f4'. The file appears whole or not at
/// all: it is written under a temporary name in the same folder and renamed. Throws Error naming the path and the
/// reason.
void write_npy(const std::string& path, std::span<const float> values, const std::vector<index_t>& shape);

/// The same as one vector.
void write_npy(const std::string& path, std::span<const float> values);

}  // namespace gradcomp::data
