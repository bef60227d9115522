#pragma once
// The portable form of ReluBackward (conv3x3.hpp), shared by the convolution and the pooling in front of the head.
#include "gradcomp/nn/conv3x3.hpp"

namespace gradcomp::nn::portable {

/// Gradient of one element: `gradient` plus the shortcut's, where the activation is positive.
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

/// Fills behind.sums from the finished gradient `g` (halo 0), one thread for each image and channel.
template <class T>
void relu_backward_sums(const Exec& exec, const Maps<const T>& g, const ReluBackward<T>& behind) {
  const int channels = g.channels;
  Kokkos::parallel_for(
      "gradcomp::nn::relu_backward_sums",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<index_t>>(exec, 0, index_t(g.images) * channels),
      KOKKOS_LAMBDA(const index_t i) {
        const int image = static_cast<int>(i / channels), channel = static_cast<int>(i % channels);
        const T* gradient = g.at(image, 0, 0) + channel;
        const T* z = behind.z.at(image, 0, 0) + channel;
        const double mean = behind.mean(channel);
        double sum = 0, product = 0;
        for (index_t p = 0; p < index_t(g.height) * g.width * channels; p += channels) {
          sum += gradient[p];
          product += gradient[p] * (z[p] - mean);
        }
        behind.sums(2 * image * channels + channel) = sum;
        behind.sums((2 * image + 1) * channels + channel) = product;
      });
}

}  // namespace gradcomp::nn::portable
