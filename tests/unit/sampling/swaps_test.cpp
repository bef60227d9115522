// Plans of swaps: nothing is lost, and no rank moves away from the mean.
#include "gradcomp/sampling/swaps.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "gradcomp/data/counter_rng.hpp"

namespace gradcomp::sampling {
namespace swaps_test {

struct Ranks {
  std::vector<std::map<index_t, float>> losses;  ///< of each rank's samples

  std::vector<double> sums() const {
    std::vector<double> all;
    for (const auto& rank : losses) {
      all.push_back(
          std::accumulate(rank.begin(), rank.end(), 0.0, [](double s, const auto& x) { return s + x.second; }));
    }
    return all;
  }
  double largest_gap() const {
    const auto all = sums();
    const double mean = std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
    double gap = 0;
    for (const double sum : all) gap = std::max(gap, std::abs(sum - mean));
    return gap;
  }
  std::vector<Swap> plan(double tolerance, index_t most) const {
    std::vector<Offers> offers;
    for (std::size_t r = 0; r < losses.size(); ++r) {
      std::vector<index_t> samples;
      std::vector<float> values;
      for (const auto& [sample, loss] : losses[r]) {
        samples.push_back(sample);
        values.push_back(loss);
      }
      offers.push_back(offers_of(samples, values, most, static_cast<int>(r)));
    }
    return plan_swaps(sums(), offers, tolerance, most);
  }
  void carry_out(const Swap& swap) {
    for (const auto& [offer, to] : {std::pair(swap.up, swap.down.rank), std::pair(swap.down, swap.up.rank)}) {
      ASSERT_EQ(losses[static_cast<std::size_t>(offer.rank)].erase(offer.sample), 1U)
          << "a sample was given twice, or does not belong to the rank";
      losses[static_cast<std::size_t>(to)][offer.sample] = offer.loss;
    }
  }
};

Ranks random_ranks(int ranks, int samples, std::uint64_t seed) {
  Ranks made;
  data::CounterRng rng(seed);
  for (int r = 0; r < ranks; ++r) {
    auto& own = made.losses.emplace_back();
    for (int i = 0; i < samples; ++i) {
      own[r * samples + i] = rng.unit() * (r % 3 == 0 ? 4.0F : 1.0F);  // ranks have different losses
    }
  }
  return made;
}

TEST(Offers, AreTheLargestAndTheSmallestLosses) {
  const std::vector<index_t> samples{7, 8, 9, 10};
  const std::vector<float> losses{2, std::numeric_limits<float>::quiet_NaN(), 5, 1};
  const Offers offers = offers_of(samples, losses, 2, 3);
  ASSERT_EQ(offers.high.size(), 2U);
  EXPECT_EQ(offers.high[0].sample, 9);
  EXPECT_EQ(offers.high[1].sample, 7);
  EXPECT_EQ(offers.low[0].sample, 10);
  EXPECT_EQ(offers.low[1].sample, 7);
  EXPECT_EQ(offers.low[0].rank, 3);
}

TEST(Swaps, AreThoseWorkedOutByHand) {
  // The sums are 10 and 2, with the mean 6. The first rank has the losses 7, 2, 1. Exchanging the 7 for the 0.5 changes
  // the sums by 6.5, to 3.5 and 8.5, which is closer.
  Ranks ranks{{{{0, 7.0F}, {1, 2.0F}, {2, 1.0F}}, {{3, 0.5F}, {4, 0.75F}, {5, 0.75F}}}};
  const auto swaps = ranks.plan(0.1, 1);
  ASSERT_EQ(swaps.size(), 1U);
  EXPECT_EQ(swaps[0].up.sample, 0);
  EXPECT_EQ(swaps[0].down.sample, 3);
  // A sample that would overshoot stays: exchanging 20 for 0.5 changes the sums 20.5 and 1 to 1 and 20.5.
  Ranks one_large{{{{0, 20.0F}, {1, 0.5F}}, {{2, 0.5F}, {3, 0.5F}}}};
  EXPECT_TRUE(one_large.plan(0.1, 8).empty());
}

TEST(Swaps, LoseNothingAndNeverWidenTheGap) {
  for (int ranks = 1; ranks <= 7; ++ranks) {
    for (const int samples : {1, 2, 33}) {
      Ranks all = random_ranks(ranks, samples, static_cast<std::uint64_t>(10 * ranks + samples));
      std::map<index_t, float> before;
      for (const auto& rank : all.losses) before.insert(rank.begin(), rank.end());
      double gap = all.largest_gap();
      const double began = gap;
      for (const Swap& swap : all.plan(0.01, 64)) {
        all.carry_out(swap);
        EXPECT_LE(all.largest_gap(), gap * (1 + 1e-12));
        gap = all.largest_gap();
      }
      std::map<index_t, float> after;
      for (const auto& rank : all.losses) {
        EXPECT_EQ(rank.size(), static_cast<std::size_t>(samples));
        after.insert(rank.begin(), rank.end());
      }
      EXPECT_EQ(before, after);
      if (ranks > 1 && samples == 33) {
        EXPECT_LT(gap, 0.2 * began) << ranks << " ranks";
      }
    }
  }
}

TEST(Swaps, StopAtTheToleranceAndAtTheirNumber) {
  const Ranks ranks = random_ranks(4, 33, 5);
  EXPECT_TRUE(ranks.plan(1e9, 64).empty());
  EXPECT_EQ(ranks.plan(0, 3).size(), 3U);
}

TEST(Swaps, TakeNoSampleTwice) {
  const Ranks ranks = random_ranks(5, 6, 9);
  std::map<index_t, int> count;
  for (const Swap& swap : ranks.plan(0, 64)) {
    ++count[swap.up.sample];
    ++count[swap.down.sample];
  }
  for (const auto& [sample, times] : count) EXPECT_EQ(times, 1) << sample;
}

}  // namespace swaps_test
}  // namespace gradcomp::sampling
