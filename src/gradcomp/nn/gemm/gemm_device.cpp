#include "gradcomp/nn/gemm/gemm_device.hpp"

#include "gradcomp/nn/gemm/gemm_blas.hpp"
#include "gradcomp/nn/gemm/gemm_tile_device.hpp"

namespace gradcomp::nn::device {

template <class T>
void gemm_grid(const Exec& exec, index_t outer, index_t inner, const MatrixGrid<const T>& a,
               const MatrixGrid<const T>& b, const MatrixGrid<T>& c, const GemmStart<T>& start) {
  multiply_tiles<T>(exec, outer, inner, a, b, c, start);
}

template <class T>
void gemm(const Exec& exec, const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c,
          const GemmStart<T>& start) {
  if (blas::gemm<T>(exec, a, b, c, start)) return;
  gemm_grid<T>(exec, 1, 1, {a}, {b}, {c}, start);
}

#define GRADCOMP_INSTANTIATE(T)                                                                                     \
  template void gemm<T>(const Exec&, const Matrix<const T>&, const Matrix<const T>&, const Matrix<T>&,              \
                        const GemmStart<T>&);                                                                       \
  template void gemm_grid<T>(const Exec&, index_t, index_t, const MatrixGrid<const T>&, const MatrixGrid<const T>&, \
                             const MatrixGrid<T>&, const GemmStart<T>&);
GRADCOMP_INSTANTIATE(float)
GRADCOMP_INSTANTIATE(double)
#undef GRADCOMP_INSTANTIATE

}  // namespace gradcomp::nn::device
