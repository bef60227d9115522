#pragma once
// Rounds to codes of 8 bits.
#include "gradcomp/core/types.hpp"

namespace gradcomp::kernels {

/// The whole number in [-127, 127] that is nearest to x, ties to even, as a float; -127 for NaN.
KOKKOS_FORCEINLINE_FUNCTION float nearest_code(float x) {
  const float q = (x + 0x1.8p23f) - 0x1.8p23f;  // for |x| < 2^22 the sum has no fractional bits left
  const float low = q > -127.0f ? q : -127.0f;  // also for NaN
  return low < 127.0f ? low : 127.0f;
}

}  // namespace gradcomp::kernels
