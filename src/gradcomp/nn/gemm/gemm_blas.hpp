#pragma once
// Products of matrices by the BLAS of kernels/linear_algebra/blas.hpp (cuBLAS, rocBLAS), which gemm_device.hpp tries
// first.
#include "gradcomp/nn/gemm/gemm.hpp"

namespace gradcomp::nn::blas {

/// c = a b + start, as nn::gemm(), with sums in the order of the library. If the device has no BLAS, if neither the
/// rows nor the columns of a or b are contiguous, or if the rows of c are not, does nothing and returns false.
template <class T>
bool gemm(const Exec& exec, const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c,
          const GemmStart<T>& start);

}  // namespace gradcomp::nn::blas
