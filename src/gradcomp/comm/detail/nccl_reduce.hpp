#pragma once
// Reductions that NCCL lacks, or has under another rule: bitwise or; 16-bit floats added in f32 in rank order and
// rounded once; their maximum and minimum, in which a NaN stays one. The terms go to the owner of each block
// (detail/blocks.hpp), a kernel there combines them in rank order, and broadcasts bring the blocks to all.
#include <cstdint>
#include <vector>

#include "gradcomp/comm/call.hpp"
#include "gradcomp/comm/detail/nccl_comm.hpp"

namespace gradcomp::comm {

/// Whether this class carries such a call, and not NCCL.
bool is_ours(DType type, ReduceOp op, Sum sum);

class NcclReduce {
 public:
  NcclReduce(NcclComm& comm, int rank, int ranks);

  void carry(const AllReduce& call);
  void carry(const ReduceScatter& call);

 private:
  /// result = op over ranks of the own one of the blocks (m_size, m_offset) of `send`.
  void reduce_own(const void* send, DType type, ReduceOp op, void* result);

  NcclComm& m_comm;
  int m_rank, m_ranks;
  std::vector<index_t> m_size, m_offset, m_terms_size, m_terms_offset;  ///< bytes by rank
  Vector<std::byte> m_terms;                                            ///< [ranks][own block]; grows
};

}  // namespace gradcomp::comm
