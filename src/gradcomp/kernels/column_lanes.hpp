#pragma once
// Columns of thin matrices on one warp, sums in double and of fixed order. An element always meets the same lane, so
// that a column can be rewritten in place without a barrier.
#include "gradcomp/kernels/lanes.hpp"

namespace gradcomp::kernels {

/// f(element, lane) for all elements, 32 at a time; an element always meets the same lane.
template <class F>
KOKKOS_FORCEINLINE_FUNCTION void for_elements(const Warp& warp, index_t count, const F& f) {
  index_t i = 0;
  for (; i + warp_lanes <= count; i += warp_lanes) warp.each([&](int l) { f(i + l, l); });
  warp.each([&](int l) {
    if (i + l < count) f(i + l, l);
  });
}

/// Sum of x y over `count` elements, for all lanes.
KOKKOS_FORCEINLINE_FUNCTION double dot(const Warp& warp, const float* x, const float* y, index_t count) {
  Lanes<double> sum;
  warp.each([&](int l) { sum[l] = 0; });
  for_elements(warp, count, [&](index_t i, int l) { sum[l] += static_cast<double>(x[i]) * static_cast<double>(y[i]); });
  return warp.sum(sum);
}

/// out = factor x; zeros for factor 0, whatever x holds.
KOKKOS_FORCEINLINE_FUNCTION void scale(const Warp& warp, double factor, const float* x, float* out, index_t count) {
  for_elements(warp, count, [&](index_t i, int) {
    out[i] = factor == 0 ? 0.0f : static_cast<float>(factor * static_cast<double>(x[i]));
  });
}

}  // namespace gradcomp::kernels
