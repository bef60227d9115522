#pragma once
// One way to do one operation of the bucket, with its own arrays. The operations:
//
//  project              P = M Q for every matrix, the first product of PowerSGD
//  project, fed back    the same of M + R, the sum kept in R: with a residual
//  project back         Q = M^T P, the second product
//  orthogonalise        the columns of every P
//  norm                 of the whole gradient
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bucket.hpp"

namespace gradcomp::bench {

struct Contender {
  std::string operation, by;
  std::function<void()> before;  ///< untimed, ahead of every call; may be empty
  std::function<void()> work;
  std::function<void()> check;  ///< throws Error unless the answer of the last call is right
};

using SharedBucket = std::shared_ptr<const Bucket>;

/// Our kernels: every operation.
std::vector<Contender> our_contenders(const SharedBucket& bucket);
/// KokkosBlas, one call a matrix: gemm or, with rank 1, gemv; axpby; nrm2 and dot.
std::vector<Contender> kokkos_blas_contenders(const SharedBucket& bucket);
/// KokkosBatched inside one kernel for all matrices: SerialGemm, TeamGemm, SerialQR with SerialApplyQ.
std::vector<Contender> kokkos_batched_contenders(const SharedBucket& bucket);
/// The host's BLAS, one call a matrix; only in builds for hosts.
std::vector<Contender> cblas_contenders(const SharedBucket& bucket);

}  // namespace gradcomp::bench
