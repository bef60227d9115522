#pragma once
// Gradient accumulation: the mean gradient of a group of batches.
#include "gradcomp/core/types.hpp"

namespace gradcomp::nn {

/// Adds the elements [begin, end) of `gradient`, the gradient of one batch, to `sum`. If this batch is the `last` one
/// of a group of `batches` batches, these elements of `gradient` become the mean of the group, and those of `sum`
/// become 0.
void accumulate(const Exec& exec, const Span<float>& sum, const Span<float>& gradient, index_t begin, index_t end,
                index_t batches, bool last);

}  // namespace gradcomp::nn
