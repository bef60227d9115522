#pragma once
// Reads a user's gradient from disk, with the shapes of its tensors, which low-rank methods need.
#include <string>
#include <vector>

#include "gradcomp/core/layout.hpp"

namespace gradcomp::evaluate {

struct GradientFile {
  std::string name;  ///< name of the file or folder, without its ending
  Layout layout;
  std::vector<float> values;  ///< layout.count(), finite
};

/// `path` is a .npy file with one tensor, a folder with a .npy file for each tensor (in the order of their names), or a
/// .npz file with an array for each tensor (in the order in which they were stored). If `layout` has tensors, they
/// replace the one tensor of a .npy file. Throws Error if the gradient cannot be read, is empty, holds values that are
/// not finite, or has another number of elements than `layout`.
GradientFile read_gradient(const std::string& path, const Layout& layout);

/// The tensors that `text` names: those of a model (nn/networks/shapes.hpp), or those of a text file. The file has a
/// line "NAME EXTENTxEXTENT..." for each tensor (for a scalar NAME alone), in the order of the gradient. After the
/// shape may stand "outputs-first" (Segment::outputs_first); # begins a comment. Layout::text() writes such a file.
/// Throws Error naming the line and what is allowed.
Layout read_layout(const std::string& text);

}  // namespace gradcomp::evaluate
