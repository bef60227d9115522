#include "gradcomp/comm/detail/mpi_half.hpp"

#include <algorithm>

#include "gradcomp/comm/detail/blocks.hpp"
#include "gradcomp/comm/detail/half_reduce.hpp"

namespace gradcomp::comm {

void HalfReduction::reduce_block(const MpiCalls& calls, const void* send, void* receive, index_t count, DType type,
                                 ReduceOp op) {
  const auto ranks = static_cast<std::size_t>(calls.size);
  for (auto* list : {&m_send_bytes, &m_send_offset, &m_receive_bytes, &m_receive_offset}) list->resize(ranks);
  const index_t own = block_size(count, calls.size, calls.rank);
  for (int r = 0; r < calls.size; ++r) {
    const auto i = static_cast<std::size_t>(r);
    m_send_bytes[i] = 2 * block_size(count, calls.size, r);
    m_send_offset[i] = 2 * block_offset(count, calls.size, r);
    m_receive_bytes[i] = 2 * own;
    m_receive_offset[i] = 2 * own * r;
  }
  m_terms.resize(std::max(m_terms.size(), static_cast<std::size_t>(own) * ranks));
  calls.alltoallv(static_cast<const std::byte*>(send), m_send_bytes.data(), m_send_offset.data(),
                  reinterpret_cast<std::byte*>(m_terms.data()), m_receive_bytes.data(), m_receive_offset.data());
  reduce_half(type, m_terms.data(), calls.size, own, op, static_cast<std::uint16_t*>(receive));
}

void HalfReduction::allreduce(const MpiCalls& calls, const void* send, void* receive, index_t count, DType type,
                              ReduceOp op) {
  std::byte* all = static_cast<std::byte*>(receive);
  std::byte* own = all + 2 * block_offset(count, calls.size, calls.rank);
  reduce_block(calls, send, own, count, type, op);
  calls.allgatherv(own, all, m_send_bytes.data(), m_send_offset.data());
}

}  // namespace gradcomp::comm
