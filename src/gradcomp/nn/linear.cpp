#include "gradcomp/nn/linear.hpp"

namespace gradcomp::nn {
namespace {

using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<index_t>>;

}  // namespace

template <class T>
void linear_forward(const Exec& exec, const LinearShape& shape, const Span<const T>& x, const Span<const T>& w,
                    const Span<const T>& b, const Span<T>& y) {
  Kokkos::parallel_for(
      "gradcomp::nn::linear_forward", Range(exec, 0, index_t(shape.batch) * shape.out), KOKKOS_LAMBDA(const index_t i) {
        const index_t image = i / shape.out, j = i % shape.out;
        double sum = b(j);
        for (int k = 0; k < shape.in; ++k) sum += double(x(image * shape.in + k)) * w(index_t(k) * shape.out + j);
        y(i) = static_cast<T>(sum);
      });
}

template <class T>
void linear_backward_data(const Exec& exec, const LinearShape& shape, const Span<const T>& dy, const Span<const T>& w,
                          const Span<T>& dx) {
  Kokkos::parallel_for(
      "gradcomp::nn::linear_backward_data", Range(exec, 0, index_t(shape.batch) * shape.in),
      KOKKOS_LAMBDA(const index_t i) {
        const index_t image = i / shape.in, k = i % shape.in;
        double sum = 0;
        for (int j = 0; j < shape.out; ++j) sum += double(dy(image * shape.out + j)) * w(k * shape.out + j);
        dx(i) = static_cast<T>(sum);
      });
}

template <class T>
void linear_backward_weights(const Exec& exec, const LinearShape& shape, const Span<const T>& x,
                             const Span<const T>& dy, const Span<T>& dw, const Span<T>& db) {
  Kokkos::parallel_for(
      "gradcomp::nn::linear_backward_weights", Range(exec, 0, index_t(shape.in + 1) * shape.out),
      KOKKOS_LAMBDA(const index_t i) {
        const index_t k = i / shape.out, j = i % shape.out;
        const bool bias = k == shape.in;  // the last row of results
        double sum = 0;
        for (index_t image = 0; image < shape.batch; ++image) {
          sum += double(dy(image * shape.out + j)) * (bias ? T(1) : x(image * shape.in + k));
        }
        if (bias) {
          db(j) = static_cast<T>(sum);
        } else {
          dw(i) = static_cast<T>(sum);
        }
      });
}

#define GRADCOMP_INSTANTIATE(T)                                                                                      \
  template void linear_forward<T>(const Exec&, const LinearShape&, const Span<const T>&, const Span<const T>&,       \
                                  const Span<const T>&, const Span<T>&);                                             \
  template void linear_backward_data<T>(const Exec&, const LinearShape&, const Span<const T>&, const Span<const T>&, \
                                        const Span<T>&);                                                             \
  template void linear_backward_weights<T>(const Exec&, const LinearShape&, const Span<const T>&,                    \
                                           const Span<const T>&, const Span<T>&, const Span<T>&);
GRADCOMP_INSTANTIATE(float)
GRADCOMP_INSTANTIATE(double)
#undef GRADCOMP_INSTANTIATE

}  // namespace gradcomp::nn
