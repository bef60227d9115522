#pragma once
// The portable form of ReluBackward (conv3x3.hpp). The convolutions and flatten_backward() share it.
#include "gradcomp/nn/convolution/conv3x3.hpp"

namespace gradcomp::nn::portable {

/// Gradient of one element: if the activation is positive, `gradient` plus that of the shortcut; otherwise 0.
template <class T>
KOKKOS_INLINE_FUNCTION T relu_backward(const ReluBackward<T>& behind, const Site& site, T gradient) {
  if (behind.shortcut.data != nullptr) {
    const int stride = behind.shortcut_stride;
    if (site.row % stride == 0 && site.column % stride == 0) {
      const int padding = (behind.shortcut.channels - behind.activation.channels) / 2;
      gradient += behind.shortcut.at(site.image, site.row / stride, site.column / stride)[site.channel + padding];
    }
  }
  return behind.activation.at(site.image, site.row, site.column)[site.channel] > T(0) ? gradient : T(0);
}

}  // namespace gradcomp::nn::portable
