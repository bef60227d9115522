#pragma once
// How a rank whose gradient is not finite tells it in a sum or a maximum over ranks.
#include "gradcomp/core/payload.hpp"

namespace gradcomp::kernels {

/// message(0) = value, NaN for a sum or infinity for a maximum, if `mark` is set. Nothing for an empty message.
void mark_sum(const Exec& exec, const Mark& mark, float value, const Span<float>& message);

}  // namespace gradcomp::kernels
