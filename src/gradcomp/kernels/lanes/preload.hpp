#pragma once
// Brings parts of arrays into the first-level cache (L1), one array at a time. A host core that walks along two or
// three arrays at once gets half the bandwidth of a plain read: its prefetchers stop at the end of every page of every
// array, and a loop with arithmetic does not look far enough ahead to make up for this. It helps to read 2 KiB of each
// array in turn and then to work on them in L1. Example: y = a x + b y over 45 MB on Zen 4 with one thread takes 2.6
// times as long as a read without preloading and 1.7 times as long with it. With 16 KiB at a time there is no gain.
#include "gradcomp/kernels/lanes/lanes.hpp"

namespace gradcomp::kernels {

/// How many elements to preload at a time.
inline constexpr index_t preload_elements = 512;

/// Brings x[0] .. x[left - 1], at most preload_elements of them, into L1 on a host. Does nothing on devices, whose many
/// threads hide the latency of loads.
KOKKOS_FORCEINLINE_FUNCTION void preload([[maybe_unused]] const float* x, [[maybe_unused]] index_t left) {
#if defined(__GNUC__) && !defined(__CUDACC__) && !defined(__HIPCC__)
  constexpr int width = 64;  // floats, several vectors, so that additions do not wait for each other
  const index_t count = left < preload_elements ? left : preload_elements;
  float sum[width] = {};
  for (index_t e = 0; e + width <= count; e += width) {
    for (int i = 0; i < width; ++i) sum[i] += x[e + i];
  }
  asm volatile("" : : "m"(sum));  // otherwise the compiler would remove loads whose results are not used
#endif
}

}  // namespace gradcomp::kernels
