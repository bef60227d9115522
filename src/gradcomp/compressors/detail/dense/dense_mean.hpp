#pragma once
// What the controls in 32 bits share: a as it is, and the mean with a look for numbers that are not finite.
#include "gradcomp/core/source.hpp"
#include "gradcomp/core/tally.hpp"

namespace gradcomp::compressors {

/// First touch: copy[i] = a[i], NaN where the gradient is not finite. The memory keeps a.
void copy_accumulated(const Exec& exec, const Source& source, float* copy);

/// out = sum / ranks, which may be one array. Counts the elements that are not finite.
void divide_sum(const Exec& exec, const float* sum, float ranks, const Tally& bad, const Span<float>& out);

}  // namespace gradcomp::compressors
