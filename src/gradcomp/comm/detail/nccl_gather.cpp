#include "gradcomp/comm/detail/nccl_gather.hpp"

#include <algorithm>

#include "gradcomp/comm/detail/copy.hpp"
#include "gradcomp/comm/detail/nccl_exchange.hpp"
#include "gradcomp/comm/detail/place.hpp"

namespace gradcomp::comm {
namespace {

constexpr std::array<GatherWay, 3> ways = {GatherWay::padded, GatherWay::broadcast, GatherWay::send_recv};
constexpr std::array<index_t, 2> class_ends = {index_t{256} << 10, index_t{8} << 20};  ///< bytes of all blocks
constexpr int untimed = 1, timed = 3;  ///< the first call of a kind sets up connections

index_t largest(const Blocks& blocks) { return *std::max_element(blocks.size.begin(), blocks.size.end()); }

}  // namespace

NcclGather::NcclGather(NcclComm& comm, NcclHostGather& host, int rank, int ranks, GatherWay way)
    : m_comm(comm), m_host(host), m_way(way), m_rank(rank), m_ranks(ranks) {}

GatherWay NcclGather::plan(const AllGatherV& call, Found& found) {
  Blocks& blocks = found.blocks;
  blocks.size.resize(static_cast<std::size_t>(m_ranks));
  m_host.gather(&call.bytes, sizeof call.bytes, blocks.size.data(), "allgatherv");
  place_gathered(blocks, call.capacity);
  GatherWay way = m_way == GatherWay::automatic ? fastest(call, found) : m_way;
  if (way == GatherWay::padded && aligned(largest(blocks)) * m_ranks > call.capacity) way = GatherWay::send_recv;
  place(call, found, way);
  return way;
}

void NcclGather::place(const AllGatherV& call, Found& found, GatherWay way) {
  Blocks& blocks = found.blocks;
  if (way == GatherWay::padded) {
    const index_t slot = aligned(largest(blocks));
    for (std::size_t r = 0; r < blocks.offset.size(); ++r) blocks.offset[r] = static_cast<index_t>(r) * slot;
  } else {
    place_aligned(blocks);
  }
  if (way != GatherWay::broadcast) {
    copy(m_comm.exec(), call.send, call.receive + blocks.offset[static_cast<std::size_t>(m_rank)], call.bytes);
  }
}

void NcclGather::carry(const AllGatherV& call, const Found& found, GatherWay way) {
  const Parts blocks = parts_of(found.blocks);
  if (way == GatherWay::padded) {
    const index_t slot = aligned(largest(found.blocks));
    if (slot == 0) return;
    m_comm.check(ncclAllGather(call.receive + m_rank * slot, call.receive, static_cast<std::size_t>(slot), ncclUint8,
                               m_comm.handle(), nccl_stream(m_comm.exec())),
                 "ncclAllGather");
  } else if (way == GatherWay::broadcast) {
    broadcast_parts(m_comm, m_rank, m_ranks, call.send, call.receive, blocks);
  } else {
    const std::vector<index_t> sizes(static_cast<std::size_t>(m_ranks), call.bytes),
        offsets(static_cast<std::size_t>(m_ranks), 0);
    send_and_receive(m_comm, m_rank, m_ranks, call.send, {sizes.data(), offsets.data()}, call.receive, blocks);
  }
}

/// Trials do no harm: each way only reads `send`, and leaves the same blocks in the receive buffer.
GatherWay NcclGather::fastest(const AllGatherV& call, Found& found) {
  index_t sum = 0;
  for (const index_t bytes : found.blocks.size) sum += bytes;
  const auto size_class = std::upper_bound(class_ends.begin(), class_ends.end(), sum) - class_ends.begin();
  std::optional<GatherWay>& chosen = m_chosen[static_cast<std::size_t>(size_class)];
  if (chosen) return *chosen;
  const bool pads = aligned(largest(found.blocks)) * m_ranks <= call.capacity;
  std::array<double, ways.size()> seconds{};
  const auto flight = std::make_shared<Flight>();
  for (std::size_t w = 0; w < ways.size(); ++w) {
    if (ways[w] == GatherWay::padded && !pads) {
      seconds[w] = 1e30;  // slower than any other
      continue;
    }
    Clock::time_point begin;
    for (int i = 0; i < untimed + timed; ++i) {
      if (i == untimed) begin = Clock::now();
      place(call, found, ways[w]);
      m_comm.group([&] { carry(call, found, ways[w]); });
      m_comm.depart(flight, "allgatherv");
      m_comm.wait(*flight);
    }
    seconds[w] = std::chrono::duration<double>(Clock::now() - begin).count();
  }
  std::vector<double> all(ways.size() * static_cast<std::size_t>(m_ranks));
  m_host.gather(seconds.data(), sizeof seconds, all.data(), "allgatherv");
  for (std::size_t i = 0; i < all.size(); ++i) {
    double& slowest = seconds[i % ways.size()];
    slowest = std::max(slowest, all[i]);
  }
  const GatherWay best =
      ways[static_cast<std::size_t>(std::min_element(seconds.begin(), seconds.end()) - seconds.begin())];
  chosen = best;
  return best;
}

}  // namespace gradcomp::comm
