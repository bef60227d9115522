#pragma once
// A user's gradient from disk, with its tensors: methods that look at matrices need their shapes.
#include <string>
#include <vector>

#include "gradcomp/core/layout.hpp"

namespace gradcomp::evaluate {

struct GradientFile {
  std::string name;  ///< of the file or folder, without its ending
  Layout layout;
  std::vector<float> values;  ///< layout.count(), finite
};

/// `path` is a .npy file, which is one tensor of its own shape unless `layout` (where it has tensors) says otherwise,
/// a folder with a .npy file for each tensor, in the order of their names, or a .npz file with an array for each, in
/// the order in which they were stored. Throws Error for what cannot be read, is empty, holds values that are not
/// finite, or has another number of elements than `layout`.
GradientFile read_gradient(const std::string& path, const Layout& layout);

/// The tensors that `text` names: those of a model (nn/networks/shapes.hpp), or of a text file with a line "NAME
/// EXTENTxEXTENT..." for each tensor (a scalar: NAME alone), in the order of the gradient; # begins a comment. Throws
/// Error naming the line and what is allowed.
Layout read_layout(const std::string& text);

}  // namespace gradcomp::evaluate
