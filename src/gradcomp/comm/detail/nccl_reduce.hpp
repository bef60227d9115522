#pragma once
// Reductions that NCCL does not have, or has with other rules: bitwise or; maximum and minimum of 16-bit floats in
// which a NaN stays a NaN. The terms go to the owner of each block (detail/blocks.hpp), where a kernel combines them;
// broadcasts distribute the blocks.
#include <vector>

#include "gradcomp/comm/call.hpp"
#include "gradcomp/comm/detail/nccl_comm.hpp"

namespace gradcomp::comm {

/// Whether NcclReduce carries such a call, and not NCCL itself.
bool is_ours(DType type, ReduceOp op);

class NcclReduce {
 public:
  NcclReduce(NcclComm& comm, int rank, int ranks);

  void carry(const AllReduce& call);
  void carry(const ReduceScatter& call);

 private:
  /// result = op over ranks of this rank's block of `send`; m_size and m_offset describe the blocks.
  void reduce_own(const void* send, DType type, ReduceOp op, void* result);

  NcclComm& m_comm;
  int m_rank, m_ranks;
  std::vector<index_t> m_size, m_offset, m_terms_size, m_terms_offset;  ///< bytes by rank
  Vector<std::byte> m_terms;                                            ///< [ranks][own block]; grows
};

}  // namespace gradcomp::comm
