#include "gradcomp/data/shards.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "gradcomp/core/error.hpp"

namespace gradcomp::data {
namespace shards_test {

using Labels = std::vector<std::int32_t>;

Labels balanced(index_t count, index_t classes) {
  Labels labels;
  for (index_t i = 0; i < count; ++i) labels.push_back(static_cast<std::int32_t>(i % classes));
  return labels;
}

Shard shard(double skew, int rank, int ranks, std::uint64_t seed = 1, index_t batch = 4) {
  return {batch, rank, ranks, seed, false, skew};
}

TEST(Shards, EveryRankOwnsAsManySamplesAndNobodyTheSame) {
  const Labels labels = balanced(1003, 10);
  for (const double skew : {0.01, 0.5, 1000.0}) {
    for (const int ranks : {1, 2, 5, 8}) {
      std::set<index_t> seen;
      for (int rank = 0; rank < ranks; ++rank) {
        const auto own = skewed_samples(labels, 10, shard(skew, rank, ranks));
        EXPECT_EQ(std::ssize(own), 1003 / ranks);
        EXPECT_TRUE(std::is_sorted(own.begin(), own.end()));
        seen.insert(own.begin(), own.end());
      }
      ASSERT_EQ(std::ssize(seen), 1003 / ranks * ranks);
      EXPECT_GE(*seen.begin(), 0);
      EXPECT_LT(*seen.rbegin(), 1003);
    }
  }
}

/// Mean over the ranks of the total variation distance between the shares of labels on a rank and those of all samples.
double skewness(double skew, int ranks, std::uint64_t seed) {
  const Labels labels = balanced(4000, 10);
  double sum = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    std::vector<double> share(10);
    const auto own = skewed_samples(labels, 10, shard(skew, rank, ranks, seed));
    for (const auto i : own) share[static_cast<std::size_t>(i % 10)] += 1.0 / static_cast<double>(own.size());
    for (const double s : share) sum += std::fabs(s - 0.1) / 2;
  }
  return sum / ranks;
}

TEST(Shards, SmallConcentrationsSkewMore) {
  double strong = 0, middle = 0, weak = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    strong += skewness(0.05, 4, seed) / 5;
    middle += skewness(0.5, 4, seed) / 5;
    weak += skewness(1e5, 4, seed) / 5;
  }
  EXPECT_GT(strong, 0.4);  // with 4 ranks it is at most 0.75
  EXPECT_LT(middle, strong - 0.1);
  EXPECT_GT(middle, 0.2);
  EXPECT_LT(weak, 0.06);  // by chance alone, 1000 draws over 10 classes give about 0.03
}

TEST(Shards, SharesAreDirichlet) {
  // With two ranks and many classes, the share of each class is a draw from Beta(a, a), with mean 1/2 and variance
  // 1 / (8 a + 4). With many classes, the limited room of a rank has no effect.
  for (const double skew : {0.5, 2.0}) {
    constexpr index_t classes = 400, each = 100;
    const Labels labels = balanced(classes * each, classes);
    std::vector<double> share(classes);
    for (const auto i : skewed_samples(labels, classes, shard(skew, 0, 2, 3))) {
      share[static_cast<std::size_t>(labels[static_cast<std::size_t>(i)])] += 1.0 / each;
    }
    double variance = 0;
    for (const double s : share) variance += (s - 0.5) * (s - 0.5) / classes;
    const double dirichlet = 1 / (8 * skew + 4), binomial = (0.25 - dirichlet) / each;
    EXPECT_NEAR(variance, dirichlet + binomial, 0.2 * dirichlet) << skew;
  }
}

TEST(Shards, PureFunctionOfSeed) {
  const Labels labels = balanced(500, 7);
  const auto own = skewed_samples(labels, 7, shard(0.5, 1, 3, 9));
  EXPECT_EQ(skewed_samples(labels, 7, shard(0.5, 1, 3, 9)), own);
  EXPECT_NE(skewed_samples(labels, 7, shard(0.5, 1, 3, 10)), own);
}

TEST(ShardSampler, EvenlyItIsTheSampler) {
  const Labels labels = balanced(103, 4);
  ShardSampler sharded(labels, 4, shard(0, 1, 2, 5));
  Sampler plain({103, 4, 1, 2, 5});
  EXPECT_EQ(sharded.steps_per_epoch(), plain.steps_per_epoch());
  std::vector<index_t> a, b;
  for (const index_t step : {0, 3, 13, 40}) {
    sharded.batch(step, a);
    plain.batch(step, b);
    EXPECT_EQ(a, b);
    EXPECT_EQ(sharded.epoch(step), plain.epoch(step));
  }
}

TEST(ShardSampler, SkewedAnEpochIsTheRanksOwnSamplesOnce) {
  const Labels labels = balanced(96, 4);
  ImageSet set{1, 1, 1, 4, {}, {}};
  set.labels.assign(labels.begin(), labels.end());
  for (int rank = 0; rank < 3; ++rank) {
    const Shard part = shard(0.3, rank, 3);
    ShardSampler sampler(labels, 4, part), of_images(set, part);
    ASSERT_EQ(sampler.steps_per_epoch(), 8);
    for (const index_t first : {0, 8}) {
      std::vector<index_t> seen, batch, same;
      for (index_t step = first; step < first + 8; ++step) {
        sampler.batch(step, batch);
        of_images.batch(step, same);
        EXPECT_EQ(batch, same);
        EXPECT_EQ(std::ssize(batch), 4);
        seen.insert(seen.end(), batch.begin(), batch.end());
      }
      std::sort(seen.begin(), seen.end());
      EXPECT_EQ(seen, skewed_samples(labels, 4, part));
    }
  }
}

TEST(Shards, RefusesWhatCannotWork) {
  const Labels labels = balanced(20, 4);
  EXPECT_THROW(skewed_samples(labels, 4, shard(0.001, 0, 2)), Error);
  EXPECT_THROW(skewed_samples(labels, 4, shard(NAN, 0, 2)), Error);
  EXPECT_THROW(skewed_samples(labels, 4, shard(-1, 0, 2)), Error);
  EXPECT_THROW(skewed_samples(labels, 3, shard(1, 0, 2)), Error);
  EXPECT_THROW(skewed_samples(labels, 4, shard(1, 2, 2)), Error);
  EXPECT_THROW(ShardSampler(labels, 4, shard(1, 0, 8)), Error);  // 2 samples, batch 4
}

}  // namespace shards_test
}  // namespace gradcomp::data
