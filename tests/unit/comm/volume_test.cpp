// Compares the table of volume.hpp with rings that are simulated block by block.
#include "gradcomp/comm/volume.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "gradcomp/comm/detail/blocks.hpp"

namespace gradcomp::comm {
namespace volume_test {

TEST(Blocks, CoverTheRangeEvenly) {
  for (const index_t count : {0, 1, 5, 12, 1001}) {
    for (int parts = 1; parts <= 5; ++parts) {
      index_t end = 0;
      for (int b = 0; b < parts; ++b) {
        EXPECT_EQ(block_offset(count, parts, b), end);
        EXPECT_LE(block_size(count, parts, 0) - block_size(count, parts, b), 1);
        end += block_size(count, parts, b);
      }
      EXPECT_EQ(end, count);
    }
  }
}

/// Bytes that each rank sends in a ring: a reduce-scatter, in which block b starts at rank b and moves right P - 1
/// times, and then an allgather.
std::vector<index_t> simulate_ring_allreduce(int ranks, index_t count, index_t element) {
  std::vector<index_t> sent(static_cast<std::size_t>(ranks), 0);
  for (int phase = 0; phase < 2; ++phase) {
    for (int step = 0; step < ranks - 1; ++step) {
      for (int r = 0; r < ranks; ++r) {
        // In phase 0, rank r sends block r - step. Afterwards it owns block r + 1, which it sends first in phase 1.
        const int block = (r + phase - step + 2 * ranks) % ranks;
        sent[static_cast<std::size_t>(r)] += element * block_size(count, ranks, block);
      }
    }
  }
  return sent;
}

TEST(Volume, AllreduceIsTheRing) {
  for (const index_t count : {0, 1, 7, 1000, 1001}) {
    for (int ranks = 1; ranks <= 5; ++ranks) {
      const auto sent = simulate_ring_allreduce(ranks, count, 4);
      index_t all_sent = 0, all_received = 0;
      for (int r = 0; r < ranks; ++r) {
        const Volume volume = allreduce_volume(ranks, r, count, 4);
        EXPECT_EQ(volume.sent, sent[static_cast<std::size_t>(r)]) << ranks << " ranks, rank " << r;
        EXPECT_LE(volume.received, volume.busiest);
        EXPECT_EQ(volume.steps, 2 * (ranks - 1));
        all_sent += volume.sent;
        all_received += volume.received;
      }
      EXPECT_EQ(all_sent, 2 * (ranks - 1) * count * 4);
      EXPECT_EQ(all_sent, all_received);
    }
  }
  EXPECT_EQ(allreduce_volume(4, 2, 1000, 4).sent, 2 * 3 * 1000 * 4 / 4);
}

TEST(FewestSteps, AreThoseOfDoubling) {
  const AllReduce reduce{nullptr, nullptr, 10};  // 40 bytes
  for (const auto& [ranks, steps] : {std::pair{1, 0}, {2, 1}, {3, 3}, {4, 2}, {5, 4}, {7, 4}, {8, 3}}) {
    const Volume v = fewest_steps(reduce, {}, 0, ranks);
    EXPECT_EQ(v.steps, steps) << ranks;
    EXPECT_EQ(v.busiest, 40 * steps) << ranks;
  }
  const AllGather gather{nullptr, nullptr, 40, DType::u8};
  EXPECT_EQ(fewest_steps(gather, {}, 0, 8).steps, 3);
  EXPECT_EQ(fewest_steps(gather, {}, 0, 8).busiest, volume(gather, {}, 0, 8).busiest)
      << "Bruck's algorithm sends no more";
  Found found;
  found.blocks.size = {10, 0, 7, 4};
  EXPECT_EQ(fewest_steps(AllGatherV{}, found, 0, 4).steps, 4);
  EXPECT_EQ(fewest_steps(Barrier{}, {}, 0, 8).steps, 3);
}

TEST(Volume, AllgathervCountsSizesAndUnevenBlocks) {
  const std::vector<index_t> sizes = {10, 0, 7};
  index_t sent = 0, received = 0;
  for (int r = 0; r < 3; ++r) {
    const Volume volume = allgatherv_volume(r, sizes);
    sent += volume.sent;
    received += volume.received;
    EXPECT_EQ(volume.received, 2 * 8 + 17 - sizes[static_cast<std::size_t>(r)]);
    EXPECT_EQ(volume.busiest, 2 * 8 + 17);
    EXPECT_EQ(volume.steps, 4);
  }
  EXPECT_EQ(sent, 2 * 17 + 3 * 2 * 8);
  EXPECT_EQ(received, sent);
  EXPECT_EQ(allgatherv_volume(0, {100}).sent, 0);
}

TEST(Volume, AlltoallvCountsSizesAndLeavesOutOwnParts) {
  const std::vector<index_t> all = {100, 1, 2, 3, 200, 4, 0, 30, 300};  // three ranks
  const index_t sizes = 2 * 3 * 8;
  EXPECT_EQ(alltoallv_volume(3, 0, all).sent, sizes + 3);
  EXPECT_EQ(alltoallv_volume(3, 0, all).received, sizes + 3);
  EXPECT_EQ(alltoallv_volume(3, 1, all).sent, sizes + 7);
  EXPECT_EQ(alltoallv_volume(3, 1, all).received, sizes + 31);
  EXPECT_EQ(alltoallv_volume(3, 2, all).sent, sizes + 30);
  for (int r = 0; r < 3; ++r) EXPECT_EQ(alltoallv_volume(3, r, all).busiest, sizes + 31);
  EXPECT_EQ(alltoallv_volume(3, 0, all).steps, 4);
  EXPECT_EQ(alltoallv_volume(1, 0, {5}).sent, 0);
}

TEST(Volume, TheOthers) {
  EXPECT_EQ(allgather_volume(4, 10).sent, 30);
  EXPECT_EQ(alltoall_volume(4, 10).received, 30);
  EXPECT_EQ(reduce_scatter_volume(4, 10).steps, 3);
  EXPECT_EQ(broadcast_volume(3, 1, 1, 10).sent, 10);
  EXPECT_EQ(broadcast_volume(3, 1, 1, 10).received, 0);
  EXPECT_EQ(broadcast_volume(3, 0, 1, 10).sent, 0);
  EXPECT_EQ(broadcast_volume(3, 0, 1, 10).received, 10);
  const int steps[] = {0, 0, 1, 2, 2, 3, 3, 3, 3, 4};
  for (int ranks = 1; ranks < 10; ++ranks) EXPECT_EQ(barrier_volume(ranks).steps, steps[ranks]) << ranks;
  for (const Volume& alone : {allgather_volume(1, 10), alltoall_volume(1, 10), broadcast_volume(1, 0, 0, 10)}) {
    EXPECT_EQ(alone.sent + alone.received + alone.busiest + alone.steps, 0);
  }
}

}  // namespace volume_test
}  // namespace gradcomp::comm
