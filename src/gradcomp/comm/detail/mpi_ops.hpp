#pragma once
// Reductions in MPI's terms. MPI has neither f16 nor bf16: operations of ours combine them, so that MPI's own
// algorithms carry them as they carry f32. Each of these operations widens two values to f32 and rounds the result, so
// how often a sum is rounded is up to the algorithm.
#include <mpi.h>

#include <array>

#include "gradcomp/comm/call.hpp"

namespace gradcomp::comm {

class MpiOps {
 public:
  MpiOps() { m_own.fill(MPI_OP_NULL); }
  ~MpiOps();
  MpiOps(const MpiOps&) = delete;
  MpiOps& operator=(const MpiOps&) = delete;

  /// The operation for elements of mpi_type(type). MPI may call it on data in host memory only if is_half(type).
  MPI_Op of(DType type, ReduceOp op);

 private:
  std::array<MPI_Op, 6> m_own;  ///< of 16-bit floats; made when they are first needed
};

}  // namespace gradcomp::comm
