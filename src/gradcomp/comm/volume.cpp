#include "gradcomp/comm/volume.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "gradcomp/comm/detail/blocks.hpp"

namespace gradcomp::comm {
namespace {

/// Every rank sends and receives P-1 blocks.
Volume all_blocks_but_one(int ranks, index_t bytes) {
  const index_t n = (ranks - 1) * bytes;
  return {n, n, n, ranks - 1};
}

}  // namespace

Volume allreduce_volume(int ranks, int rank, index_t count, index_t element) {
  if (ranks == 1) return {};
  const auto block = [&](int b) { return element * block_size(count, ranks, b % ranks); };
  // reduce-scatter: all blocks but the one that becomes complete here go to the right neighbour; allgather: all blocks
  // but the one that became complete there
  const index_t total = 2 * element * count;
  Volume volume;
  volume.sent = total - block(rank + 1) - block(rank + 2);
  volume.received = total - block(rank) - block(rank + 1);
  for (int r = 0; r < ranks; ++r) volume.busiest = std::max(volume.busiest, total - block(r) - block(r + 1));
  volume.steps = 2 * (ranks - 1);
  return volume;
}

Volume allgather_volume(int ranks, index_t bytes) { return all_blocks_but_one(ranks, bytes); }

Volume allgatherv_volume(int rank, const std::vector<index_t>& sizes) {
  const int ranks = static_cast<int>(sizes.size());
  if (ranks == 1) return {};
  const Volume counts = allgather_volume(ranks, size_of(DType::i64));
  const index_t total = std::accumulate(sizes.begin(), sizes.end(), index_t{0});
  Volume volume;
  volume.sent = counts.sent + total - sizes[static_cast<std::size_t>((rank + 1) % ranks)];
  volume.received = counts.received + total - sizes[static_cast<std::size_t>(rank)];
  volume.busiest = counts.busiest + total - *std::min_element(sizes.begin(), sizes.end());
  volume.steps = counts.steps + ranks - 1;
  return volume;
}

Volume alltoall_volume(int ranks, index_t bytes) { return all_blocks_but_one(ranks, bytes); }

Volume alltoallv_volume(int ranks, int rank, const std::vector<index_t>& all) {
  if (ranks == 1) return {};
  const Volume counts = allgather_volume(ranks, ranks * size_of(DType::i64));
  Volume volume;
  index_t most = 0;
  for (int r = 0; r < ranks; ++r) {
    index_t sent = 0, received = 0;
    for (int other = 0; other < ranks; ++other) {
      if (other == r) continue;
      sent += all[static_cast<std::size_t>(r * ranks + other)];
      received += all[static_cast<std::size_t>(other * ranks + r)];
    }
    most = std::max({most, sent, received});
    if (r == rank) volume = {counts.sent + sent, counts.received + received, 0, 0};
  }
  volume.busiest = counts.busiest + most;
  volume.steps = counts.steps + ranks - 1;
  return volume;
}

Volume reduce_scatter_volume(int ranks, index_t bytes) { return all_blocks_but_one(ranks, bytes); }

Volume broadcast_volume(int ranks, int rank, int root, index_t bytes) {
  if (ranks == 1) return {};
  const int place = (rank - root + ranks) % ranks;  // in the chain
  return {place == ranks - 1 ? 0 : bytes, place == 0 ? 0 : bytes, bytes, ranks - 1};
}

Volume barrier_volume(int ranks) {
  Volume volume;
  volume.steps = static_cast<int>(std::bit_width(static_cast<unsigned>(ranks - 1)));
  return volume;
}

namespace {

struct VolumeOf {
  const Found& found;
  int rank, ranks;

  Volume operator()(const AllReduce& c) const { return allreduce_volume(ranks, rank, c.count, size_of(c.type)); }
  Volume operator()(const AllGather& c) const { return allgather_volume(ranks, c.count * size_of(c.type)); }
  Volume operator()(const AllGatherV&) const { return allgatherv_volume(rank, found.blocks.size); }
  Volume operator()(const AllToAll& c) const { return alltoall_volume(ranks, c.count * size_of(c.type)); }
  Volume operator()(const AllToAllV&) const { return alltoallv_volume(ranks, rank, found.all); }
  Volume operator()(const ReduceScatter& c) const { return reduce_scatter_volume(ranks, c.count * size_of(c.type)); }
  Volume operator()(const Broadcast& c) const {
    return broadcast_volume(ranks, rank, c.root, c.count * size_of(c.type));
  }
  Volume operator()(const Send& c) const { return {c.bytes, 0, c.bytes, 1}; }
  Volume operator()(const Receive&) const { return {0, found.bytes, found.bytes, 1}; }
  Volume operator()(const Barrier&) const { return barrier_volume(ranks); }
};

}  // namespace

Volume volume(const Call& call, const Found& found, int rank, int ranks) {
  return std::visit(VolumeOf{found, rank, ranks}, call);
}

Volume fewest_steps(const Call& call, const Found& found, int rank, int ranks) {
  Volume result = volume(call, found, rank, ranks);
  if (ranks == 1) return result;
  const int doublings = barrier_volume(ranks).steps;
  if (const auto* reduce = std::get_if<AllReduce>(&call)) {
    const bool power = std::has_single_bit(static_cast<unsigned>(ranks));
    result.steps = doublings + (power ? 0 : 1);  // without a power: floor(log2 P) + 2 = ceil(log2 P) + 1
    result.sent = result.received = result.busiest = result.steps * reduce->count * size_of(reduce->type);
  } else if (std::holds_alternative<AllGather>(call)) {
    result.steps = doublings;
  } else if (std::holds_alternative<AllGatherV>(call)) {
    result.steps = 2 * doublings;
  }
  return result;
}

}  // namespace gradcomp::comm
