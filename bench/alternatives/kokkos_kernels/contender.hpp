#pragma once
// One way to do one operation on the bucket, with its own arrays. The operations are:
//
//  project              P = M Q for every matrix, the first product of PowerSGD
//  project, fed back    the same with M + R instead of M, with the sum kept in R: as with a residual
//  project back         Q = M^T P, the second product
//  orthogonalise        makes the columns of every P orthonormal
//  norm                 the L2 norm of the whole gradient
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bucket.hpp"

namespace gradcomp::bench {

struct Contender {
  std::string operation, by;
  std::function<void()> before;  ///< runs untimed before every call; may be empty
  std::function<void()> work;
  std::function<void()> check;  ///< throws Error if the answer of the last call is wrong
};

using SharedBucket = std::shared_ptr<const Bucket>;

/// Our kernels, for every operation.
std::vector<Contender> our_contenders(const SharedBucket& bucket);
/// KokkosBlas with one call per matrix: gemm (with rank 1 gemv), axpby, nrm2 and dot.
std::vector<Contender> kokkos_blas_contenders(const SharedBucket& bucket);
/// KokkosBatched inside one kernel for all matrices: SerialGemm, TeamGemm, and SerialQR with SerialApplyQ.
std::vector<Contender> kokkos_batched_contenders(const SharedBucket& bucket);
/// The BLAS of the host with one call per matrix; only in host builds.
std::vector<Contender> cblas_contenders(const SharedBucket& bucket);

}  // namespace gradcomp::bench
