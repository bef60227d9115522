#pragma once
// The header of a .npy file: the text of a Python dictionary such as
// {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
#include <string>
#include <string_view>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp::data::detail {

struct NpyHeader {
  std::string descr;  ///< element type, e.g. "<f4"
  bool fortran_order = false;
  std::vector<index_t> shape;
};

/// Parses `text`, which must be a dictionary of exactly these three keys, each with a value of its kind, and may end in
/// white space. Otherwise throws Error that begins with `path`.
NpyHeader parse_npy_header(const std::string& path, std::string_view text);

}  // namespace gradcomp::data::detail
