#pragma once
// One array at a time. A host core that walks along two or three arrays at once gets half the bandwidth of a plain
// read: its prefetchers stop at the end of every page of every array, and a body with arithmetic does not look far
// enough ahead to make up for it. Reading 2 KiB of each array in turn and then working on them from L1 does
// (y = a x + b y over 45 MB on Zen 4, one thread: 2.6 times a read without, 1.7 with it; 16 KiB at once gain nothing).
#include "gradcomp/kernels/lanes/lanes.hpp"

namespace gradcomp::kernels {

/// Elements to preload at a time.
inline constexpr index_t preload_elements = 512;

/// Brings x[0] .. x[left - 1], at most preload_elements of them, into L1 on a host; nothing on devices, whose many
/// threads hide what a load takes.
KOKKOS_FORCEINLINE_FUNCTION void preload([[maybe_unused]] const float* x, [[maybe_unused]] index_t left) {
#if defined(__GNUC__) && !defined(__CUDACC__) && !defined(__HIPCC__)
  constexpr int width = 64;  // floats: a few vectors, so that additions do not wait for each other
  const index_t count = left < preload_elements ? left : preload_elements;
  float sum[width] = {};
  for (index_t e = 0; e + width <= count; e += width) {
    for (int i = 0; i < width; ++i) sum[i] += x[e + i];
  }
  asm volatile("" : : "m"(sum));  // loads whose result nobody wants would be left out
#endif
}

}  // namespace gradcomp::kernels
