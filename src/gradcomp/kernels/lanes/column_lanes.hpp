#pragma once
// Operations on columns of thin matrices by one warp. Sums are in double and have a fixed order. The same lane always
// handles an element, so that a column can be rewritten in place without a barrier.
#include "gradcomp/kernels/lanes/lanes.hpp"

namespace gradcomp::kernels {

/// Sum of x[i] y[i] over `count` elements; all lanes get it.
KOKKOS_FORCEINLINE_FUNCTION double dot(const Warp& warp, const float* x, const float* y, index_t count) {
  Lanes<double> sum;
  warp.each([&](int l) { sum[l] = 0; });
  each_element(warp, count, [&](int l, index_t i) { sum[l] += static_cast<double>(x[i]) * static_cast<double>(y[i]); });
  return warp.sum(sum);
}

/// out = factor x. If the factor is 0, `out` becomes 0 even if x is not finite.
KOKKOS_FORCEINLINE_FUNCTION void scale(const Warp& warp, double factor, const float* x, float* out, index_t count) {
  each_element(warp, count, [&](int, index_t i) {
    out[i] = factor == 0 ? 0.0f : static_cast<float>(factor * static_cast<double>(x[i]));
  });
}

}  // namespace gradcomp::kernels
