#pragma once
// Operations on whole arrays.
#include "gradcomp/core/types.hpp"

namespace gradcomp::kernels {

/// x *= factor
void scale(const Exec& exec, const Span<float>& x, float factor);

}  // namespace gradcomp::kernels
