#pragma once
// Reductions of f16 and bf16 over MPI, which has neither type: all-to-all to the owner of each block, reduction in f32
// in rank order, rounded once, allgather of the blocks. The volume is that of a ring allreduce; the result depends on
// no tree, so it has the same bits for any MPI.
#include <cstdint>
#include <vector>

#include "gradcomp/comm/detail/mpi_calls.hpp"

namespace gradcomp::comm {

class HalfReduction {
 public:
  /// receive = op over ranks of send; host buffers of `count` values, which may be the same.
  void allreduce(const MpiCalls& calls, const void* send, void* receive, index_t count, DType type, ReduceOp op);

  /// receive = op over ranks of this rank's block of send (detail/blocks.hpp); it may lie in send.
  void reduce_block(const MpiCalls& calls, const void* send, void* receive, index_t count, DType type, ReduceOp op);

 private:
  std::vector<std::uint16_t> m_terms;  ///< the blocks of all ranks; grows to the largest call
  std::vector<index_t> m_send_bytes, m_send_offset, m_receive_bytes, m_receive_offset;
};

}  // namespace gradcomp::comm
