#pragma once
// What the two controls without a cast, fp32 and no_exchange, share: copying a, and a mean that finds non-finite
// numbers.
#include "gradcomp/core/source.hpp"
#include "gradcomp/core/tally.hpp"

namespace gradcomp::compressors {

/// First touch of the source: copy[i] = a[i], or NaN if the gradient element is not finite. The memory keeps a.
void copy_accumulated(const Exec& exec, const Source& source, float* copy);

/// out = sum / ranks; both may be the same array. Counts the elements of `sum` that are not finite in `bad`.
void divide_sum(const Exec& exec, const float* sum, float ranks, const Tally& bad, const Span<float>& out);

}  // namespace gradcomp::compressors
