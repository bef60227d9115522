#pragma once
// Arrays in NumPy's .npy files (numpy.lib.format, versions 1.0 to 3.0). Programs read and write gradients in this
// format.
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp::data {

/// A float array in C order (last extent fastest).
struct NpyArray {
  std::vector<index_t> shape;  ///< extents; none for a scalar, which has one element
  std::vector<float> values;   ///< as many as the product of the extents
};

/// Reads an array of any shape with little-endian floats of 2, 4 or 8 bytes. Doubles are rounded to float, and arrays
/// in Fortran order are put in C order. Throws Error that names the file and what is wrong: it is not a .npy file, its
/// version or element type is another one, its header does not describe an array, or its data are too short or too
/// long.
NpyArray read_npy(const std::string& path);

/// Takes the next `count` bytes of a file and returns their number, which is less only at the end of the file.
using ReadBytes = std::function<std::size_t(std::uint8_t* to, std::size_t count)>;

/// Does the same with a file that `read` reads; `name` names it in errors. First reads the header, then as many bytes
/// as this says, and one more, of which there must be none.
NpyArray read_npy(const std::string& name, const ReadBytes& read);

/// Does the same with `bytes`, the content of such a file.
NpyArray parse_npy(const std::string& name, std::span<const std::uint8_t> bytes);

/// Returns `array` if it can be a gradient. If it has no element, or one that is not finite, throws Error with `name`.
NpyArray as_gradient(const std::string& name, NpyArray array);

/// Writes `values` (as many floats as the product of `shape`, in C order) as version 1.0 with elements '<f4'. The file
/// is written under a temporary name in the same folder and then renamed, so that it appears whole or not at all.
/// Throws Error that names the path and the reason.
void write_npy(const std::string& path, std::span<const float> values, const std::vector<index_t>& shape);

/// Writes `values` as an array of one dimension.
void write_npy(const std::string& path, std::span<const float> values);

}  // namespace gradcomp::data
