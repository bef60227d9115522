#pragma once
// Host cores are told by instructions what they will need. Their own prefetchers stop at the end of every page, follow
// few arrays at once, and hardly run ahead of stores: on a Xeon with AVX-512, one thread writes 100 MB in 1.8 times the
// time of a read, and in 1.25 times with prefetches. Devices have many threads instead, which hide latency.
#include "gradcomp/kernels/lanes/lanes.hpp"

namespace gradcomp::kernels {

/// Asks for the 64 bytes around `at`, which need not exist. `writes`: they are written alone, far from others.
template <bool writes = false>
KOKKOS_FORCEINLINE_FUNCTION void prefetch([[maybe_unused]] const void* at) {
  KOKKOS_IF_ON_HOST((__builtin_prefetch(at, writes ? 1 : 0);))
}

/// How far a thread that walks along an array looks ahead: a page.
inline constexpr std::uintptr_t bytes_ahead = 4096;

/// Asks for what lies `bytes_ahead` behind `rows` rows of 32 elements, which the thread reads or writes next.
template <int rows, class T>
KOKKOS_FORCEINLINE_FUNCTION void prefetch_rows([[maybe_unused]] const T* x) {
  constexpr std::uintptr_t bytes = rows * warp_lanes * sizeof(T), line = 64;
  const auto at = reinterpret_cast<std::uintptr_t>(x) + bytes_ahead;  // may lie behind the array
  for (std::uintptr_t b = 0; b < bytes; b += line) prefetch(reinterpret_cast<const void*>(at + b));
}

/// f(begin, size) for parts of at most 8 rows of the `count` elements at x, in order, each after prefetch_rows().
template <class F>
KOKKOS_FORCEINLINE_FUNCTION void for_parts(const float* x, index_t count, const F& f) {
  constexpr int rows = 8;
  constexpr index_t part = rows * warp_lanes;
  for (index_t e = 0; e < count; e += part) {
    prefetch_rows<rows>(x + e);
    f(e, count - e < part ? count - e : part);
  }
}

/// x[e] = 0 for `count` elements.
KOKKOS_FORCEINLINE_FUNCTION void fill_zero(const Warp& warp, float* x, index_t count) {
  for_parts(x, count,
            [&](index_t begin, index_t size) { each_element(warp, size, [&](int, index_t e) { x[begin + e] = 0; }); });
}

}  // namespace gradcomp::kernels
