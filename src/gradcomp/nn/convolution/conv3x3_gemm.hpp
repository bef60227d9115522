#pragma once
// The convolutions behind conv3x3.hpp for devices, as products of matrices by cuBLAS or rocBLAS (gemm_device.hpp); any
// channel count, and on hosts too, where tests run them. `columns` holds what each pixel of a result reads, 9 ci
// contiguous elements (im2col; Chellapilla et al., "High performance convolutional neural networks for document
// processing", 2006):
//   forward          z = columns(x) w
//   weights          gradient = columns(x)^T dz
//   data             columns = dz w^T, and every pixel of dx gathers the sums that it has part in: no atomics, and no
//                    product with a zero at stride 2
//
// Why not cuDNN or MIOpen: their implicit products save the traffic of the columns. But they are two more dependencies,
// one for each vendor, with plans and workspaces of their own, and no machine of the project can run either; Kokkos
// Kernels and with it the vendor's BLAS is there already, and a CPU runs the same calls.
//
// Images pass in groups, so that scratch stays bounded. Groups follow from the layer's shape alone, and weight
// gradients add up over them in order: the same bits in every run on one device.
#include "gradcomp/nn/convolution/conv3x3.hpp"

namespace gradcomp::nn::device {

/// Elements of `columns`, unless one image has more: 128 MB of float on devices, large enough to fill one with work; on
/// hosts 1 MB, which the second-level cache holds.
inline constexpr index_t columns_limit = device_is_host ? index_t{1} << 18 : index_t{1} << 25;

/// Images that pass together, for results of `pixels` pixels from `ci` channels.
constexpr int images_per_pass(index_t pixels, int ci) {
  const index_t each = pixels * 9 * ci;
  return each > 0 && each < columns_limit ? static_cast<int>(columns_limit / each) : 1;
}

/// `columns`: 9 ci elements for each pixel of the results of images_per_pass() images; `dense`: co elements.
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
