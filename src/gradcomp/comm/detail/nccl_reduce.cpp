#include "gradcomp/comm/detail/nccl_reduce.hpp"

#include "gradcomp/comm/detail/blocks.hpp"
#include "gradcomp/comm/detail/half_reduce.hpp"
#include "gradcomp/comm/detail/nccl_exchange.hpp"

namespace gradcomp::comm {
namespace {

template <class Format>
void combine_halves(const Exec& exec, ReduceOp op, const std::uint16_t* terms, int ranks, index_t count,
                    std::uint16_t* result) {
  Kokkos::parallel_for(
      "gradcomp::comm::combine_halves", IndexRange(exec, 0, count), KOKKOS_LAMBDA(const index_t i) {
        float value = Format::decode(terms[i]);
        for (int r = 1; r < ranks; ++r) value = kernels::combine(op, value, Format::decode(terms[r * count + i]));
        result[i] = Format::encode(value);
      });
}

void combine_bits(const Exec& exec, const std::uint8_t* terms, int ranks, index_t bytes, std::uint8_t* result) {
  Kokkos::parallel_for(
      "gradcomp::comm::combine_bits", IndexRange(exec, 0, bytes), KOKKOS_LAMBDA(const index_t i) {
        unsigned value = terms[i];
        for (int r = 1; r < ranks; ++r) value |= terms[r * bytes + i];
        result[i] = static_cast<std::uint8_t>(value);
      });
}

}  // namespace

bool is_ours(DType type, ReduceOp op, Sum sum) {
  return op == ReduceOp::bor || (is_half(type) && (op != ReduceOp::sum || sum == Sum::rank_order));
}

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
  const auto* halves = reinterpret_cast<const std::uint16_t*>(m_terms.data());
  if (op == ReduceOp::bor) {
    combine_bits(m_comm.exec(), reinterpret_cast<const std::uint8_t*>(m_terms.data()), m_ranks, own,
                 static_cast<std::uint8_t*>(result));
  } else if (type == DType::f16) {
    combine_halves<kernels::Half>(m_comm.exec(), op, halves, m_ranks, own / 2, static_cast<std::uint16_t*>(result));
  } else {
    combine_halves<kernels::Bfloat>(m_comm.exec(), op, halves, m_ranks, own / 2, static_cast<std::uint16_t*>(result));
  }
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
