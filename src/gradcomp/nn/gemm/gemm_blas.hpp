#pragma once
// Products of matrices by the BLAS of kernels/linear_algebra/blas.hpp (cuBLAS, rocBLAS): what gemm_device.hpp asks
// first.
#include "gradcomp/nn/gemm/gemm.hpp"

namespace gradcomp::nn::blas {

/// c = a b + start, as nn::gemm(), with sums in the order of the library. False, and nothing done, where the device has
/// no BLAS, or neither rows nor columns of a or b are contiguous.
template <class T>
bool gemm(const Exec& exec, const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c,
          const GemmStart<T>& start);

}  // namespace gradcomp::nn::blas
