#pragma once
// What the two controls without a cast, fp32 and no_exchange, share: copying a, and a mean that finds non-finite
// numbers.
#include "gradcomp/core/faults.hpp"
#include "gradcomp/core/source.hpp"

namespace gradcomp::compressors {

/// The only touch of the source: copy[i] = a[i], which is sent, or NaN if the gradient element is not finite.
void send_accumulated(const Exec& exec, const Source& source, float* copy);

/// out = sum / ranks; both may be the same array. Elements of `sum` that are not finite are counted as diverged.
void divide_sum(const Exec& exec, const float* sum, float ranks, const FaultCounts& faults, const Span<float>& out);

}  // namespace gradcomp::compressors
