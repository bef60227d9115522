#pragma once
// Gradient accumulation: the mean gradient of a group of batches.
#include "gradcomp/core/types.hpp"

namespace gradcomp::nn {

/// Adds elements [begin, end) of `gradient`, that of one batch, to `sum`. With `last`, the last of a group of
/// `batches`, `gradient` becomes the group's mean there and `sum` zero again.
void accumulate(const Exec& exec, const Span<float>& sum, const Span<float>& gradient, index_t begin, index_t end,
                index_t batches, bool last);

}  // namespace gradcomp::nn
