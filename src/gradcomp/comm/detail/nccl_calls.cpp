#include "gradcomp/comm/detail/nccl_calls.hpp"

#include <algorithm>

#include "gradcomp/comm/detail/nccl_exchange.hpp"
#include "gradcomp/comm/detail/place.hpp"

namespace gradcomp::comm {
namespace {

std::size_t elements(index_t count) { return static_cast<std::size_t>(count); }

/// Blocks of equal sizes, without gaps.
Blocks blocks_of(const AllToAll& call, int ranks) {
  Blocks blocks;
  for (int r = 0; r < ranks; ++r) {
    blocks.size.push_back(call.count * size_of(call.type));
    blocks.offset.push_back(r * blocks.size.back());
  }
  return blocks;
}

}  // namespace

NcclCalls::NcclCalls(NcclComm& comm, MPI_Comm host, int rank, int ranks, GatherWay way)
    : m_comm(comm),
      m_host(comm, host, ranks),
      m_rank(rank),
      m_ranks(ranks),
      m_gather(comm, m_host, rank, ranks, way),
      m_reduce(comm, rank, ranks),
      m_token("gradcomp::comm::token", 1) {}

void NcclCalls::carry(std::span<const Call> together, std::span<Found> found) {
  m_ways.clear();
  m_next_way = 0;
  for (std::size_t i = 0; i < together.size(); ++i) {
    std::visit([&](const auto& call) { plan(call, found[i]); }, together[i]);
  }
  m_comm.group([&] {
    for (std::size_t i = 0; i < together.size(); ++i) {
      if (takes_more(together[i])) continue;
      std::visit([&](const auto& call) { enqueue(call, found[i]); }, together[i]);
    }
  });
  for (const Call& call : together) {
    if (!takes_more(call)) continue;
    if (const auto* reduce = std::get_if<AllReduce>(&call)) m_reduce.carry(*reduce);
    if (const auto* scatter = std::get_if<ReduceScatter>(&call)) m_reduce.carry(*scatter);
  }
}

bool NcclCalls::takes_more(const Call& call) const {
  if (const auto* reduce = std::get_if<AllReduce>(&call)) return is_ours(reduce->type, reduce->op);
  if (const auto* scatter = std::get_if<ReduceScatter>(&call)) return is_ours(scatter->type, scatter->op);
  return false;
}

void NcclCalls::plan(const AllGatherV& c, Found& found) { m_ways.push_back(m_gather.plan(c, found)); }

void NcclCalls::plan(const AllToAllV& c, Found& found) {
  const auto ranks = static_cast<std::size_t>(m_ranks);
  found.all.resize(ranks * ranks);
  m_host.gather(c.parts->size.data(), ranks * sizeof(index_t), found.all.data(), "alltoallv");
  place_received(found, m_rank, m_ranks, c.capacity);
  own_part(m_comm, m_rank, c.send, parts_of(*c.parts), c.receive, parts_of(found.blocks));
}

void NcclCalls::plan(const AllToAll& c, Found&) {
  const Blocks blocks = blocks_of(c, m_ranks);
  own_part(m_comm, m_rank, static_cast<const std::byte*>(c.send), parts_of(blocks), static_cast<std::byte*>(c.receive),
           parts_of(blocks));
}

void NcclCalls::enqueue(const AllReduce& c, const Found&) {
  m_comm.check(ncclAllReduce(c.send, c.receive, elements(c.count), nccl_type(c.type), nccl_op(c.op), m_comm.handle(),
                             nccl_stream(m_comm.exec())),
               "ncclAllReduce");
}

void NcclCalls::enqueue(const AllGather& c, const Found&) {
  m_comm.check(ncclAllGather(c.send, c.receive, elements(c.count), nccl_type(c.type), m_comm.handle(),
                             nccl_stream(m_comm.exec())),
               "ncclAllGather");
}

void NcclCalls::enqueue(const AllGatherV& c, const Found& found) { m_gather.carry(c, found, m_ways[m_next_way++]); }

void NcclCalls::enqueue(const AllToAll& c, const Found&) {
  const Blocks blocks = blocks_of(c, m_ranks);
  send_and_receive(m_comm, m_rank, m_ranks, static_cast<const std::byte*>(c.send), parts_of(blocks),
                   static_cast<std::byte*>(c.receive), parts_of(blocks));
}

void NcclCalls::enqueue(const AllToAllV& c, const Found& found) {
  send_and_receive(m_comm, m_rank, m_ranks, c.send, parts_of(*c.parts), c.receive, parts_of(found.blocks));
}

void NcclCalls::enqueue(const ReduceScatter& c, const Found&) {
  m_comm.check(ncclReduceScatter(c.send, c.receive, elements(c.count), nccl_type(c.type), nccl_op(c.op),
                                 m_comm.handle(), nccl_stream(m_comm.exec())),
               "ncclReduceScatter");
}

void NcclCalls::enqueue(const Broadcast& c, const Found&) {
  m_comm.check(ncclBroadcast(c.data, c.data, elements(c.count), nccl_type(c.type), c.root, m_comm.handle(),
                             nccl_stream(m_comm.exec())),
               "ncclBroadcast");
}

void NcclCalls::enqueue(const Barrier&, const Found&) {
  m_comm.check(
      ncclAllReduce(m_token.data(), m_token.data(), 1, ncclUint8, ncclMax, m_comm.handle(), nccl_stream(m_comm.exec())),
      "ncclAllReduce");
}

}  // namespace gradcomp::comm
