#pragma once
// Reductions of f16 and bf16 over MPI, which has neither type. An all-to-all brings the terms to the owner of each
// block, which reduces them in f32 in rank order and rounds once; an allgather distributes the blocks. The volume is
// that of a ring allreduce. The result has the same bits with any MPI, because it depends on no tree.
#include <cstdint>
#include <vector>

#include "gradcomp/comm/detail/mpi_calls.hpp"

namespace gradcomp::comm {

class HalfReduction {
 public:
  /// receive = op over ranks of send. Both are host buffers of `count` values, and may be the same.
  void allreduce(const MpiCalls& calls, const void* send, void* receive, index_t count, DType type, ReduceOp op);

  /// receive = op over ranks of this rank's block of `send` (detail/blocks.hpp). `receive` may lie in `send`.
  void reduce_block(const MpiCalls& calls, const void* send, void* receive, index_t count, DType type, ReduceOp op);

 private:
  std::vector<std::uint16_t> m_terms;  ///< the blocks of all ranks; grows to the largest call
  std::vector<index_t> m_send_bytes, m_send_offset, m_receive_bytes, m_receive_offset;
};

}  // namespace gradcomp::comm
