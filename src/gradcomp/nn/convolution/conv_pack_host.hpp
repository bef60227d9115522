#pragma once
// Weights in the order in which conv_tile_host.hpp reads them.
#include "gradcomp/nn/convolution/conv_tile_host.hpp"

namespace gradcomp::nn::host {

/// Copies the weights [3][3][ci][co] of the `taps` (3 kh + kw each) into panels, packed[panel][tap][inner][panel
/// width]. Panels divide the output channels, and inner counts the input channels; if `transposed`, it is the other way
/// round.
template <class T>
void pack_weights(const Exec& exec, const T* weights, int ci, int co, const int* taps, int tap_count, bool transposed,
                  T* packed) {
  const int outer = transposed ? ci : co, inner = transposed ? co : ci;
  const int panel = vectors_of<T>(outer) * Simd<T>::width;
  const int panels = outer / panel;
  Kokkos::parallel_for(
      "gradcomp::nn::pack_weights", Kokkos::RangePolicy<Exec>(exec, 0, tap_count * panels), [=](const int item) {
        const int t = item / panels, first = item % panels * panel;
        const T* from = weights + index_t(taps[t]) * ci * co + (transposed ? index_t(first) * co : first);
        T* to = packed + (index_t(item % panels) * tap_count + t) * inner * panel;
        for (int i = 0; i < inner; ++i, to += panel) {
          if (transposed) {
            for (int o = 0; o < panel; ++o) to[o] = from[index_t(o) * co + i];
          } else {
            std::copy(from + index_t(i) * co, from + index_t(i) * co + panel, to);
          }
        }
      });
}

}  // namespace gradcomp::nn::host
