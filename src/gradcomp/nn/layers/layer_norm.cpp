#include "gradcomp/nn/layers/layer_norm.hpp"

#include "gradcomp/kernels/lanes/lanes.hpp"

namespace gradcomp::nn {

using kernels::each_element;
using kernels::Lanes;
using kernels::Warp;

template <class T>
void layer_norm_forward(const Exec& exec, const Matrix<const T>& x, const Span<const T>& scale,
                        const Span<const T>& shift, const Matrix<T>& y, const Span<T>& moments) {
  const index_t columns = x.columns;
  kernels::for_warps(
      "gradcomp::nn::layer_norm_forward", exec, x.rows, KOKKOS_LAMBDA(const Warp& warp, const index_t row) {
        const T* from = &x(row, 0);
        T* to = &y(row, 0);
        Lanes<T> part;
        warp.each([&](int l) { part[l] = 0; });
        each_element(warp, columns, [&](int l, index_t j) { part[l] += from[j]; });
        const T mean = warp.sum(part) / static_cast<T>(columns);
        warp.each([&](int l) { part[l] = 0; });
        each_element(warp, columns, [&](int l, index_t j) { part[l] += (from[j] - mean) * (from[j] - mean); });
        const T variance = warp.sum(part) / static_cast<T>(columns);
        const T factor = 1 / Kokkos::sqrt(variance + static_cast<T>(layer_norm_epsilon));
        each_element(warp, columns, [&](int, index_t j) { to[j] = scale(j) * ((from[j] - mean) * factor) + shift(j); });
        warp.once([&] {
          moments(2 * row) = mean;
          moments(2 * row + 1) = factor;
        });
      });
}

template <class T>
void layer_norm_backward(const Exec& exec, const Matrix<const T>& x, const Span<const T>& scale,
                         const Span<const T>& moments, const Matrix<const T>& dy, bool add, const Matrix<T>& dx,
                         const Matrix<T>& products) {
  const index_t columns = x.columns;
  kernels::for_warps(
      "gradcomp::nn::layer_norm_backward", exec, x.rows, KOKKOS_LAMBDA(const Warp& warp, const index_t row) {
        const T *from = &x(row, 0), *gradient = &dy(row, 0);
        T *to = &dx(row, 0), *product = &products(row, 0);
        const T mean = moments(2 * row), factor = moments(2 * row + 1);
        Lanes<T> sum, dot;
        warp.each([&](int l) { sum[l] = dot[l] = 0; });
        each_element(warp, columns, [&](int l, index_t j) {
          const T value = gradient[j] * ((from[j] - mean) * factor);
          product[j] = value;
          sum[l] += scale(j) * gradient[j];
          dot[l] += scale(j) * value;
        });
        const T mean_gradient = warp.sum(sum) / static_cast<T>(columns);
        const T mean_product = warp.sum(dot) / static_cast<T>(columns);
        each_element(warp, columns, [&](int, index_t j) {
          const T normalised = (from[j] - mean) * factor;
          const T value = factor * (scale(j) * gradient[j] - mean_gradient - normalised * mean_product);
          to[j] = add ? to[j] + value : value;
        });
      });
}

#define GRADCOMP_INSTANTIATE(T)                                                                                        \
  template void layer_norm_forward<T>(const Exec&, const Matrix<const T>&, const Span<const T>&, const Span<const T>&, \
                                      const Matrix<T>&, const Span<T>&);                                               \
  template void layer_norm_backward<T>(const Exec&, const Matrix<const T>&, const Span<const T>&,                      \
                                       const Span<const T>&, const Matrix<const T>&, bool, const Matrix<T>&,           \
                                       const Matrix<T>&);
GRADCOMP_INSTANTIATE(float)
GRADCOMP_INSTANTIATE(double)
#undef GRADCOMP_INSTANTIATE

}  // namespace gradcomp::nn
