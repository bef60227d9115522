#include "gradcomp/comm/detail/nccl_reduce.hpp"

#include "gradcomp/comm/detail/blocks.hpp"
#include "gradcomp/comm/detail/nccl_exchange.hpp"
#include "gradcomp/kernels/lanes/combine.hpp"

namespace gradcomp::comm {
bool is_ours(DType type, ReduceOp op) { return op == ReduceOp::bor || (is_half(type) && op != ReduceOp::sum); }

NcclReduce::NcclReduce(NcclComm& comm, int rank, int ranks) : m_comm(comm), m_rank(rank), m_ranks(ranks) {
  for (auto* list : {&m_size, &m_offset, &m_terms_size, &m_terms_offset}) list->resize(static_cast<std::size_t>(ranks));
}

void NcclReduce::reduce_own(const void* send, DType type, ReduceOp op, void* result) {
  const index_t own = m_size[static_cast<std::size_t>(m_rank)], bytes = own * m_ranks;
  for (int r = 0; r < m_ranks; ++r) {
    m_terms_size[static_cast<std::size_t>(r)] = own;
    m_terms_offset[static_cast<std::size_t>(r)] = r * own;
  }
  if (static_cast<index_t>(m_terms.size()) < bytes) {
    m_comm.exec().fence("gradcomp::comm::nccl_reduce");  // an earlier call may still use the old terms
    m_terms = Vector<std::byte>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "gradcomp::comm::terms"),
                                static_cast<std::size_t>(bytes));
  }
  const Parts out{m_size.data(), m_offset.data()}, in{m_terms_size.data(), m_terms_offset.data()};
  const auto* from = static_cast<const std::byte*>(send);
  own_part(m_comm, m_rank, from, out, m_terms.data(), in);
  m_comm.group([&] { send_and_receive(m_comm, m_rank, m_ranks, from, out, m_terms.data(), in); });
  m_comm.settle("allreduce");
  kernels::combine_terms(m_comm.exec(), type, op, m_terms.data(), m_ranks, own / size_of(type), result);
}

void NcclReduce::carry(const AllReduce& c) {
  for (int r = 0; r < m_ranks; ++r) {
    m_size[static_cast<std::size_t>(r)] = size_of(c.type) * block_size(c.count, m_ranks, r);
    m_offset[static_cast<std::size_t>(r)] = size_of(c.type) * block_offset(c.count, m_ranks, r);
  }
  auto* all = static_cast<std::byte*>(c.receive);
  std::byte* own = all + m_offset[static_cast<std::size_t>(m_rank)];
  reduce_own(c.send, c.type, c.op, own);
  m_comm.group([&] { broadcast_parts(m_comm, m_rank, m_ranks, own, all, {m_size.data(), m_offset.data()}); });
}

void NcclReduce::carry(const ReduceScatter& c) {
  for (int r = 0; r < m_ranks; ++r) {
    m_size[static_cast<std::size_t>(r)] = size_of(c.type) * c.count;
    m_offset[static_cast<std::size_t>(r)] = size_of(c.type) * c.count * r;
  }
  reduce_own(c.send, c.type, c.op, c.receive);
}

}  // namespace gradcomp::comm
