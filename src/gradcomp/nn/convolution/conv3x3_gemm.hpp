#pragma once
// The convolutions of conv3x3.hpp for devices, as products of matrices by cuBLAS or rocBLAS (gemm_device.hpp). They
// take any number of channels, and tests run them on hosts too. `columns` holds what each pixel of a result reads, 9 ci
// contiguous elements (im2col; Chellapilla et al., "High performance convolutional neural networks for document
// processing", 2006):
//   forward          z = columns(x) w
//   weights          gradient = columns(x)^T dz
//   data             columns = dz w^T; then every pixel of dx gathers its sums. This needs no atomics, and no product
//                    with a zero at stride 2
//
// The implicit products of cuDNN and MIOpen would save the memory traffic of the columns. But they would be two more
// dependencies, one for each vendor, with their own plans and workspaces. Kokkos Kernels, and with it the vendor's
// BLAS, is a dependency already, and a CPU can run the same calls.
//
// Images are processed in groups, so that scratch is bounded. The groups depend only on the layer's shape, and weight
// gradients are added over them in order, so that every run on one device gives the same bits.
#include "gradcomp/nn/convolution/conv3x3.hpp"

namespace gradcomp::nn::device {

/// Maximum number of elements of `columns`, unless one image has more. On devices these are 128 MiB of float, enough to
/// keep the device busy. On hosts they are 1 MiB, which fits into the second-level cache.
inline constexpr index_t columns_limit = device_is_host ? index_t{1} << 18 : index_t{1} << 25;

/// Images of a group, for results of `pixels` pixels from `ci` channels.
constexpr int images_per_pass(index_t pixels, int ci) {
  const index_t each = pixels * 9 * ci;
  return each > 0 && each < columns_limit ? static_cast<int>(columns_limit / each) : 1;
}

/// These three functions are those of conv3x3.hpp. Their scratch covers the pixels of the results of images_per_pass()
/// images: `columns` has 9 ci elements for each of them, and `dense` has co.
template <class T>
void conv3x3_forward(const Exec& exec, const Maps<const T>& x, const Span<const T>& weights, int stride,
                     const Maps<T>& z, const Span<double>& sums, const Span<T>& columns);

template <class T>
void conv3x3_backward_data(const Exec& exec, const Maps<const T>& dz, const Span<const T>& weights, int stride,
                           const ReluBackward<T>& behind, const Maps<T>& dx, const Span<T>& columns,
                           const Span<T>& dense);

template <class T>
void conv3x3_backward_weights(const Exec& exec, const Maps<const T>& x, const Maps<const T>& dz, int stride,
                              const Span<T>& gradient, const Span<T>& columns, const Span<T>& dense);

}  // namespace gradcomp::nn::device
