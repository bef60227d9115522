#include "gradcomp/nn/convolution/conv3x3_gemm.hpp"

#include <algorithm>

#include "gradcomp/kernels/lanes/lanes.hpp"
#include "gradcomp/nn/convolution/relu_backward.hpp"
#include "gradcomp/nn/gemm/gemm_device.hpp"
#include "gradcomp/nn/layers/image_sums.hpp"

namespace gradcomp::nn::device {
namespace {

using kernels::each_element;
using kernels::Warp;

template <class T>
Maps<T> images_of(const Maps<T>& maps, int first, int count) {
  Maps<T> some = maps;
  some.data += first * maps.image_stride();
  some.images = count;
  return some;
}

template <class T>
index_t pixels(const Maps<T>& maps) {
  return index_t(maps.images) * maps.height * maps.width;
}

/// Calls f(first, count) for each group of images.
template <class F>
void each_pass(int images, int per_pass, const F& f) {
  for (int first = 0; first < images; first += per_pass) f(first, std::min(per_pass, images - first));
}

/// Fills columns[pixel of z][kh][kw][ci]. Each of the three rows of taps is one contiguous run of x.
template <class T>
void gather_columns(const Exec& exec, const Maps<const T>& x, const Maps<const T>& z, int stride,
                    const Span<T>& columns) {
  const int run = 3 * x.channels;
  kernels::for_warps(
      "gradcomp::nn::gather_columns", exec, 3 * pixels(z), KOKKOS_LAMBDA(const Warp& warp, const index_t i) {
        const int kh = static_cast<int>(i % 3);
        const Site site(z, i / 3 * z.channels);
        const T* from = x.at(site.image, site.row * stride + kh - 1, site.column * stride - 1);
        T* to = columns.data() + i * run;
        each_element(warp, run, [&](int, index_t k) { to[k] = from[k]; });
      });
}

/// Copies the elements of `maps` without the halo to `dense`.
template <class T>
void drop_halo(const Exec& exec, const Maps<const T>& maps, const Span<T>& dense) {
  const index_t length = index_t(maps.width) * maps.channels;
  kernels::for_warps(
      "gradcomp::nn::drop_halo", exec, index_t(maps.images) * maps.height,
      KOKKOS_LAMBDA(const Warp& warp, const index_t r) {
        const T* from = maps.at(static_cast<int>(r / maps.height), static_cast<int>(r % maps.height), 0);
        T* to = dense.data() + r * length;
        each_element(warp, length, [&](int, index_t i) { to[i] = from[i]; });
      });
}

/// Writes dx of the images [first, first + count). columns[pixel of dz][kh][kw][ci]: what each pixel of dz adds to the
/// gradients of the pixels that its tap reads.
template <class T>
void scatter_columns(const Exec& exec, const Span<const T>& columns, const Maps<const T>& dz, int stride,
                     const ReluBackward<T>& behind, const Maps<T>& dx, int first, int count) {
  const int height = dz.height, width = dz.width;
  kernels::for_warps(
      "gradcomp::nn::scatter_columns", exec, index_t(count) * dx.height,
      KOKKOS_LAMBDA(const Warp& warp, const index_t r) {
        const int image = static_cast<int>(r / dx.height), row = static_cast<int>(r % dx.height), ci = dx.channels;
        const T* from = columns.data() + index_t(image) * height * width * 9 * ci;
        T* to = dx.at(first + image, row, 0);
        each_element<1>(warp, index_t(dx.width) * ci, [&](int, index_t e) {
          const int column = static_cast<int>(e) / ci, channel = static_cast<int>(e) % ci;
          T sum = 0;
          for (int kh = 0; kh < 3; ++kh) {
            const int y = row + 1 - kh;  // = stride x the row of dz from which this tap comes
            if (y < 0 || y % stride != 0 || y / stride >= height) continue;
            for (int kw = 0; kw < 3; ++kw) {
              const int x = column + 1 - kw;
              if (x < 0 || x % stride != 0 || x / stride >= width) continue;
              sum += from[((index_t(y / stride) * width + x / stride) * 9 + 3 * kh + kw) * ci + channel];
            }
          }
          to[e] = portable::relu_backward(behind, Site(first + image, row, column, channel), sum);
        });
      });
}

}  // namespace

template <class T>
void conv3x3_forward(const Exec& exec, const Maps<const T>& x, const Span<const T>& weights, int stride,
                     const Maps<T>& z, const Span<double>& sums, const Span<T>& columns) {
  const index_t inner = index_t(9) * x.channels;
  each_pass(x.images, images_per_pass(index_t(z.height) * z.width, x.channels), [&](int first, int count) {
    const Maps<T> to = images_of(z, first, count);
    gather_columns<T>(exec, images_of(x, first, count), to, stride, columns);
    gemm<T>(exec, Matrix<const T>::dense(columns.data(), pixels(to), inner),
            Matrix<const T>::dense(weights.data(), inner, z.channels),
            Matrix<T>::dense(to.data, pixels(to), z.channels));
  });
  if (sums.extent(0) > 0) image_sums<T>(exec, z, z, {}, sums, Path::device);
}

template <class T>
void conv3x3_backward_data(const Exec& exec, const Maps<const T>& dz, const Span<const T>& weights, int stride,
                           const ReluBackward<T>& behind, const Maps<T>& dx, const Span<T>& columns,
                           const Span<T>& dense) {
  const index_t outer = index_t(9) * dx.channels;
  each_pass(dz.images, images_per_pass(index_t(dz.height) * dz.width, dx.channels), [&](int first, int count) {
    const Maps<const T> from = images_of(dz, first, count);
    drop_halo<T>(exec, from, dense);
    gemm<T>(exec, Matrix<const T>::dense(dense.data(), pixels(from), dz.channels),
            Matrix<const T>::dense(weights.data(), outer, dz.channels).transposed(),
            Matrix<T>::dense(columns.data(), pixels(from), outer));
    scatter_columns<T>(exec, columns, from, stride, behind, dx, first, count);
  });
  image_sums<T>(exec, dx, behind.z, behind.mean, behind.sums, Path::device);
}

template <class T>
void conv3x3_backward_weights(const Exec& exec, const Maps<const T>& x, const Maps<const T>& dz, int stride,
                              const Span<T>& gradient, const Span<T>& columns, const Span<T>& dense) {
  const index_t outer = index_t(9) * x.channels;
  if (x.images == 0) Kokkos::deep_copy(exec, gradient, T(0));
  each_pass(x.images, images_per_pass(index_t(dz.height) * dz.width, x.channels), [&](int first, int count) {
    const Maps<const T> from = images_of(dz, first, count);
    gather_columns<T>(exec, images_of(x, first, count), from, stride, columns);
    drop_halo<T>(exec, from, dense);
    gemm<T>(exec, Matrix<const T>::dense(columns.data(), pixels(from), outer).transposed(),
            Matrix<const T>::dense(dense.data(), pixels(from), dz.channels),
            Matrix<T>::dense(gradient.data(), outer, dz.channels), {first > 0, nullptr});
  });
}

#define GRADCOMP_INSTANTIATE(T)                                                                                   \
  template void conv3x3_forward<T>(const Exec&, const Maps<const T>&, const Span<const T>&, int, const Maps<T>&,  \
                                   const Span<double>&, const Span<T>&);                                          \
  template void conv3x3_backward_data<T>(const Exec&, const Maps<const T>&, const Span<const T>&, int,            \
                                         const ReluBackward<T>&, const Maps<T>&, const Span<T>&, const Span<T>&); \
  template void conv3x3_backward_weights<T>(const Exec&, const Maps<const T>&, const Maps<const T>&, int,         \
                                            const Span<T>&, const Span<T>&, const Span<T>&);
GRADCOMP_INSTANTIATE(float)
GRADCOMP_INSTANTIATE(double)
#undef GRADCOMP_INSTANTIATE

}  // namespace gradcomp::nn::device
