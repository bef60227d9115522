#include "gradcomp/nn/layers/linear.hpp"

namespace gradcomp::nn {
namespace {

/// Sets `values` to 0 where `of` is 0 or negative. Both have `count` elements, and may be the same.
template <class T>
void mask(const Exec& exec, index_t count, const Span<const T>& of, const Span<T>& values) {
  Kokkos::parallel_for(
      "gradcomp::nn::linear_mask", IndexRange(exec, 0, count),
      KOKKOS_LAMBDA(const index_t i) { values(i) = of(i) <= T(0) ? T(0) : values(i); });  // NaN keeps the value
}

template <class T>
Matrix<T> matrix(const Span<T>& of, index_t rows, index_t columns) {
  return Matrix<T>::dense(of.data(), rows, columns);
}

}  // namespace

template <class T>
void linear_forward(const Exec& exec, const LinearShape& s, const Span<const T>& x, const Span<const T>& w,
                    const Span<const T>& b, bool rectify, const Span<T>& y, const GemmWorkspace<T>& workspace,
                    Path path) {
  gemm<T>(exec, matrix(x, s.batch, s.in), matrix(w, s.in, s.out), matrix(y, s.batch, s.out), workspace, path,
          {false, b.data()});
  if (rectify) mask<T>(exec, s.batch * s.out, y, y);
}

template <class T>
void linear_backward_data(const Exec& exec, const LinearShape& s, const Span<const T>& dy, const Span<const T>& w,
                          const Span<const T>& rectified, const Span<T>& dx, const GemmWorkspace<T>& workspace,
                          Path path) {
  gemm<T>(exec, matrix(dy, s.batch, s.out), matrix(w, s.in, s.out).transposed(), matrix(dx, s.batch, s.in), workspace,
          path);
  if (rectified.extent(0) > 0) mask<T>(exec, s.batch * s.in, rectified, dx);
}

template <class T>
void linear_backward_weights(const Exec& exec, const LinearShape& s, const Span<const T>& x, const Span<const T>& dy,
                             const Span<T>& dw, const Span<T>& db, const GemmWorkspace<T>& workspace, Path path) {
  gemm<T>(exec, matrix(x, s.batch, s.in).transposed(), matrix(dy, s.batch, s.out), matrix(dw, s.in, s.out), workspace,
          path);
  if (db.extent(0) == 0) return;
  Kokkos::parallel_for(
      "gradcomp::nn::linear_bias_gradient", IndexRange(exec, 0, s.out), KOKKOS_LAMBDA(const index_t j) {
        double sum = 0;
        for (index_t image = 0; image < s.batch; ++image) sum += dy(image * s.out + j);
        db(j) = static_cast<T>(sum);
      });
}

#define GRADCOMP_INSTANTIATE(T)                                                                                      \
  template void linear_forward<T>(const Exec&, const LinearShape&, const Span<const T>&, const Span<const T>&,       \
                                  const Span<const T>&, bool, const Span<T>&, const GemmWorkspace<T>&, Path);        \
  template void linear_backward_data<T>(const Exec&, const LinearShape&, const Span<const T>&, const Span<const T>&, \
                                        const Span<const T>&, const Span<T>&, const GemmWorkspace<T>&, Path);        \
  template void linear_backward_weights<T>(const Exec&, const LinearShape&, const Span<const T>&,                    \
                                           const Span<const T>&, const Span<T>&, const Span<T>&,                     \
                                           const GemmWorkspace<T>&, Path);
GRADCOMP_INSTANTIATE(float)
GRADCOMP_INSTANTIATE(double)
#undef GRADCOMP_INSTANTIATE

}  // namespace gradcomp::nn
