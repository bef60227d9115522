// Samples that change ranks, on any number of ranks: no sample is lost, every rank keeps its number of samples, sums of
// losses come closer, and the bytes are those of the calls.
#include "gradcomp/sampling/reshard.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "distributed/world.hpp"
#include "gradcomp/comm/over_ranks.hpp"

namespace gradcomp::sampling {
namespace reshard_test {

/// Sums over ranks that identify the whole set, so that they reveal a lost or doubled sample.
std::vector<index_t> fingerprint(Transport& comm, const std::vector<index_t>& samples,
                                 const std::vector<float>& losses) {
  index_t sum = 0, squares = 0, mixed = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    sum += samples[i];
    squares += samples[i] * samples[i];
    mixed += samples[i] * std::llround(1000 * losses[i]);
  }
  return sum_over_ranks(comm, {sum, squares, mixed});
}

double largest_gap(Transport& comm, const std::vector<float>& losses) {
  const double own = std::accumulate(losses.begin(), losses.end(), 0.0);
  const double mean = 1e-6 * static_cast<double>(sum_over_ranks(comm, {std::llround(1e6 * own)})[0]) / comm.size();
  return max_over_ranks(comm, {std::abs(own - mean)})[0];
}

class Reshard : public testing::TestWithParam<index_t> {};
INSTANTIATE_TEST_SUITE_P(Samples, Reshard, testing::Values(0, 1, 2, 37));

TEST_P(Reshard, ConservesSamplesAndNarrowsTheGap) {
  const auto comm = test::world();
  const int rank = comm->rank();
  const auto count = static_cast<std::size_t>(GetParam());
  std::vector<index_t> samples(count);
  std::vector<float> losses(count);
  for (std::size_t i = 0; i < count; ++i) {
    samples[i] = rank + comm->size() * static_cast<index_t>(i);
    losses[i] = static_cast<float>((7 * i + 3) % 11 + 1) * (rank == 0 ? 0.5F : 0.125F);
  }
  const auto before = fingerprint(*comm, samples, losses);
  const double began = largest_gap(*comm, losses);
  Resharder resharder(*comm, 0.02, 16);
  double gap = began;
  index_t swaps = 0;
  for (int round = 0; round < 4; ++round) {
    const Resharded moved = resharder.swap(Exec(), samples, losses);
    swaps += moved.swaps;
    EXPECT_EQ(fingerprint(*comm, samples, losses), before);
    EXPECT_EQ(samples.size(), count);
    const double now = largest_gap(*comm, losses);
    EXPECT_LE(now, gap + 1e-5);
    gap = now;
    // This rank sends to others its sum and offers, the sizes of its parts, and 16 bytes per sample.
    if (comm->size() > 1) {
      EXPECT_GE(moved.wire_bytes, 16 * moved.swaps);
    } else {
      EXPECT_EQ(moved.swaps, 0);
    }
  }
  if (comm->size() > 1 && count == 37) {
    EXPECT_LT(gap, 0.5 * began);
    EXPECT_GT(sum_over_ranks(*comm, {swaps})[0], 0);
  }
}

TEST(ReshardOfUnknownLosses, LeavesSamplesWhereTheyAre) {
  const auto comm = test::world();
  std::vector<index_t> samples{comm->rank(), comm->rank() + 100};
  std::vector<float> losses(2, std::nanf(""));
  const auto before = samples;
  EXPECT_EQ(Resharder(*comm, 0.05, 8).swap(Exec(), samples, losses).swaps, 0);
  EXPECT_EQ(samples, before);
}

}  // namespace reshard_test
}  // namespace gradcomp::sampling
