#pragma once
// The input that a compressor is about to read, for files of gradients and checks of answers.
#include <vector>

#include "gradcomp/core/source.hpp"

namespace gradcomp {

/// a of every element as Source::accumulate() will form it (finite gradients), on the host; the memories stay as they
/// are. Waits for `exec`.
std::vector<float> seen_by_compressor(const Exec& exec, const Source& source);

}  // namespace gradcomp
