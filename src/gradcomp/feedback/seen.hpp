#pragma once
// The input that a compressor is about to read, for files of gradients and checks of answers.
#include <vector>

#include "gradcomp/core/source.hpp"

namespace gradcomp {

/// Returns, on the host, a of every element as Source::accumulate() will form it if the gradient is finite. The
/// memories stay as they are. Waits for `exec`.
std::vector<float> seen_by_compressor(const Exec& exec, const Source& source);

}  // namespace gradcomp
