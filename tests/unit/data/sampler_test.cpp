#include "gradcomp/data/sampler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "gradcomp/core/error.hpp"
#include "gradcomp/data/counter_rng.hpp"

namespace gradcomp::data {
namespace sampler_test {

TEST(CounterRng, SplitMixKnownAnswer) {
  // Vigna's splitmix64.c with the initial state 0 returns mix64 of 1, 2, ... times the golden ratio.
  EXPECT_EQ(mix64(0x9E3779B97F4A7C15U), 0xE220A8397B1DCDAFU);
  EXPECT_EQ(mix64(2 * 0x9E3779B97F4A7C15U), 0x6E789E6AA1B965F4U);
}

TEST(CounterRng, StreamsDifferAndBelowIsUniform) {
  EXPECT_NE(CounterRng(1, 0, 0).next(), CounterRng(1, 0, 1).next());
  EXPECT_NE(CounterRng(1, 0, 1).next(), CounterRng(1, 1, 0).next());
  EXPECT_EQ(CounterRng(1, 2, 3).next(), CounterRng(1, 2, 3).next());
  CounterRng rng(7);
  std::vector<int> count(6);
  for (int i = 0; i < 60'000; ++i) ++count[rng.below(6)];
  for (const int c : count) EXPECT_NEAR(c, 10'000, 450);  // 5 standard deviations
}

TEST(Shuffled, IsAPermutationPerEpoch) {
  auto order = shuffled(1000, 3, 0);
  EXPECT_NE(order, shuffled(1000, 3, 1));
  EXPECT_NE(order, shuffled(1000, 4, 0));
  EXPECT_EQ(order, shuffled(1000, 3, 0));
  std::sort(order.begin(), order.end());
  std::vector<index_t> all(1000);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(order, all);
}

TEST(Sampler, EpochCoversTheSetOnce) {
  Sampler sampler({96, 8, 0, 1, 5});
  ASSERT_EQ(sampler.steps_per_epoch(), 12);
  for (const index_t first : {0, 12}) {
    std::set<index_t> seen;
    std::vector<index_t> batch;
    for (index_t s = first; s < first + 12; ++s) {
      EXPECT_EQ(sampler.epoch(s), first / 12);
      sampler.batch(s, batch);
      seen.insert(batch.begin(), batch.end());
    }
    EXPECT_EQ(seen.size(), 96U);
  }
}

/// The sorted global batch of a step over all ranks. Checks that no two ranks have a sample in common.
std::vector<index_t> global_batch(index_t step, int ranks, index_t global) {
  std::vector<index_t> all, batch;
  for (int r = 0; r < ranks; ++r) {
    Sampler sampler({103, global / ranks, r, ranks, 5});
    sampler.batch(step, batch);
    EXPECT_EQ(static_cast<index_t>(batch.size()), global / ranks);
    all.insert(all.end(), batch.begin(), batch.end());
  }
  EXPECT_EQ(std::set<index_t>(all.begin(), all.end()).size(), all.size());
  std::sort(all.begin(), all.end());
  return all;
}

TEST(Sampler, RanksShareTheSameGlobalBatch) {
  for (const index_t step : {0, 3, 7, 12, 13, 40}) {
    const auto one = global_batch(step, 1, 8);
    EXPECT_EQ(global_batch(step, 2, 8), one);
    EXPECT_EQ(global_batch(step, 4, 8), one);
  }
}

TEST(Sampler, StepsMayComeInAnyOrder) {
  Sampler forward({50, 5, 0, 2, 9}), jumping({50, 5, 0, 2, 9});
  std::vector<index_t> a, b;
  for (const index_t step : {17, 2, 5, 4, 100}) {
    forward.batch(step, a);
    jumping.batch(0, b);
    jumping.batch(step, b);
    EXPECT_EQ(a, b);
  }
}

TEST(Sampler, RefusesWhatCannotWork) {
  EXPECT_THROW(Sampler({10, 4, 0, 3, 1}), Error);
  EXPECT_THROW(Sampler({10, 0, 0, 1, 1}), Error);
  EXPECT_THROW(Sampler({10, 1, 2, 2, 1}), Error);
}

}  // namespace sampler_test
}  // namespace gradcomp::data
