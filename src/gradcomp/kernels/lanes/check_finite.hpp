#pragma once
// Passes over received values that later kernels would not check.
#include "gradcomp/core/payload.hpp"

namespace gradcomp::kernels {

/// Counts as diverged if a sum over ranks is not finite, and notes it in `lost` for the kernels that follow.
void check_sum(const Exec& exec, const Span<const float>& sum, const Mark& lost, const FaultCounts& faults);

/// Counts as broken if a value of a payload is not finite: its sender would have flagged it.
void check_values(const Exec& exec, const Span<const float>& values, const FaultCounts& faults);

}  // namespace gradcomp::kernels
