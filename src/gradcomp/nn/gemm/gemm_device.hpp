#pragma once
// The products of gemm.hpp for devices. Tests also run them on hosts, with sums in the same order.
//
// A single product is done by the vendor's BLAS (gemm_blas.hpp). If a build has none, or the BLAS does not take the
// strides of a view, the kernel of gemm_tile_device.hpp does it. That kernel always does the many small products of an
// attention: heads and sequences have two different distances, so that no strided batch contains all of them.
// KokkosBatched::BatchedGemm takes one distance, passes nothing to cuBLAS ("currently unsupported", 5.0.2) and launches
// on the default instance instead of ours. The team-level KokkosBatched::TeamGemm leaves tiles in shared memory to its
// caller.
#include "gradcomp/nn/gemm/gemm.hpp"

namespace gradcomp::nn::device {

/// Does what nn::gemm() does.
template <class T>
void gemm(const Exec& exec, const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c,
          const GemmStart<T>& start = {});

/// Does what nn::gemm_grid() does; each product starts with `start`. The sum of an element is formed in the order of
/// the inner index.
template <class T>
void gemm_grid(const Exec& exec, index_t outer, index_t inner, const MatrixGrid<const T>& a,
               const MatrixGrid<const T>& b, const MatrixGrid<T>& c, const GemmStart<T>& start = {});

}  // namespace gradcomp::nn::device
