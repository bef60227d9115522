#pragma once
// Products of matrices by Kokkos Kernels (cuBLAS, rocBLAS or its own): what gemm() takes on devices, where a build has
// it.
#include "gradcomp/nn/gemm.hpp"

namespace gradcomp::nn::blas {

/// c = a b + start, as nn::gemm(), with sums in the order of the library. False, and nothing done, without Kokkos
/// Kernels or where neither rows nor columns of a or b are contiguous.
template <class T>
bool gemm(const Exec& exec, const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c,
          const GemmStart<T>& start);

}  // namespace gradcomp::nn::blas
