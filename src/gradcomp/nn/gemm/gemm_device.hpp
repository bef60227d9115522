#pragma once
// Products of matrices behind gemm.hpp for devices; on hosts, where tests run them, in the same order.
//
// One product is the vendor's BLAS (gemm_blas.hpp); where a build has none, or a view has strides that it does not
// take, the kernel of gemm_tile_device.hpp. The many small products of an attention are always that kernel: heads and
// sequences lie at two distances, so that no strided batch holds them all; KokkosBatched::BatchedGemm knows one
// distance, hands nothing to cuBLAS ("currently unsupported", 5.0.2) and launches on the default instance instead of
// ours; its team-level KokkosBatched::TeamGemm leaves tiles in shared memory to its caller.
#include "gradcomp/nn/gemm/gemm.hpp"

namespace gradcomp::nn::device {

/// As nn::gemm().
template <class T>
void gemm(const Exec& exec, const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c,
          const GemmStart<T>& start = {});

/// As nn::gemm_grid(); each product starts with `start`. The sum of an element runs over the inner index in order.
template <class T>
void gemm_grid(const Exec& exec, index_t outer, index_t inner, const MatrixGrid<const T>& a,
               const MatrixGrid<const T>& b, const MatrixGrid<T>& c, const GemmStart<T>& start = {});

}  // namespace gradcomp::nn::device
