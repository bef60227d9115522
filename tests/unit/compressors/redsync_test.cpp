#include "gradcomp/core/registry.hpp"
#include "unit/compressors/threshold_checks.hpp"

namespace sparse_test {
namespace redsync_test {

const Entry entry = find_entry("redsync");

index_t count_above(const std::vector<float>& a, double eta) {
  return std::count_if(a.begin(), a.end(), [&](float v) { return std::fabs(static_cast<double>(v)) > eta; });
}

/// "Threshold binary search" as published. Returns its last threshold.
double published(const std::vector<float>& a, index_t k, double eps) {
  double mean = 0, most = 0;
  for (const float v : a) {
    mean += std::fabs(static_cast<double>(v)) / static_cast<double>(a.size());
    most = std::max(most, std::fabs(static_cast<double>(v)));
  }
  double low = 0, high = 1, eta = 0;
  while (high - low > eps) {
    const double t = (low + high) / 2;
    eta = mean + t * (most - mean);
    const index_t count = count_above(a, eta);
    if (k < count && count < 2 * k) break;
    if (2 * count < k) {
      high = t;
    } else {
      low = t;
    }
  }
  return eta;
}

TEST(Redsync, BinarySearchIsThePublishedOne) {
  const index_t n = 50000;
  for (const auto& name : {"laplace", "gauss", "heavy", "sparse", "levels", "spikes", "ties", "denormal"}) {
    const auto a = make_input(name, n);
    for (const double ratio : {0.001, 0.01, 0.1, 0.5}) {
      for (const char* eps : {"0.2", "0.5", "0.1", "0.01"}) {
        SCOPED_TRACE(std::string(name) + " ratio=" + std::to_string(ratio) + " eps=" + eps);
        Rig rig(entry, {{"variant", "paper"}, {"search", "binary"}, {"ratio", std::to_string(ratio)}, {"eps", eps}},
                Layout::flat(n), true);
        rig.produce(a);
        expect_conservation(rig, after_first(a));
        const index_t k = rig.state->target[0], kept = rig.state->kept[0];
        if (nonzeros_of(a, rig.layout.segments[0]) <= k) continue;
        const double eta = published(a, k, std::stod(eps)), doubt = 1e-5 * eta + 3e-45;  // float sums within tiles
        ASSERT_GE(kept, count_above(a, eta + doubt));
        ASSERT_LE(kept, count_above(a, eta - doubt));
        expect_largest_sent(a, rig.layout.segments[0], rig.decoded().indices);
      }
    }
  }
}

TEST(Redsync, TrimmedGivesTheExactKLargestAndEnds) {
  Layout layout;
  layout.add("a", {40000}).add("tiny", {100}).add("b", {9000});
  for (const auto& name : input_names()) {
    for (const char* eps : {"0.2", "0.5", "0.01"}) {
      for (const char* ratio : {"0.001", "0.01", "0.5", "0.999"}) {
        SCOPED_TRACE(name + " eps=" + eps + " ratio=" + ratio);
        const auto a = make_input(name, layout.count());
        Rig rig(entry, {{"variant", "paper"}, {"search", "trimmed"}, {"ratio", ratio}, {"eps", eps}}, layout, true);
        rig.produce(a);
        expect_conservation(rig, after_first(a));
        const Decoded d = rig.decoded();
        for (std::size_t s = 0; s < layout.segments.size(); ++s) {
          const auto& segment = layout.segments[s];
          if (nonzeros_of(a, segment) <= rig.state->target[s]) continue;
          ASSERT_EQ(indices_of(d, segment), top_k_indices(a, segment.offset, segment.count, rig.state->target[s]));
        }
      }
    }
  }
}

TEST(Redsync, AutoSendsSmallSegmentsWholeAndSearchesLargeOnes) {
  Layout layout;
  layout.add("plain", {32767}).add("trimmed", {32768}).add("at_most", {1048576}).add("binary", {1048577});
  const auto a = make_input("laplace", layout.count());
  Rig rig(entry, {{"variant", "paper"}}, layout, true);
  rig.produce(a);
  expect_conservation(rig, a);
  EXPECT_EQ(rig.state->kept[0], nonzeros_of(a, layout.segments[0]));
  EXPECT_EQ(rig.state->kept[1], rig.state->target[1]);
  EXPECT_EQ(rig.state->kept[2], rig.state->target[2]);
  const std::vector<float> last(a.end() - 1048577, a.end());
  EXPECT_NEAR(static_cast<double>(rig.state->kept[3]),
              static_cast<double>(count_above(last, published(last, rig.state->target[3], 0.2))), 3);
}

TEST(Redsync, ThresholdIsUsedForFiveStepsAndPersists) {
  const index_t n = 50000;
  Rig rig(entry, {{"variant", "paper"}, {"search", "binary"}}, Layout::flat(n), false);
  const auto a = make_input("laplace", n);
  rig.produce(a, 0);
  const index_t kept = rig.state->kept[0];
  ASSERT_GT(kept, 0);
  const auto views = rig.state->memories();
  ASSERT_EQ(views.size(), 1u);
  EXPECT_TRUE(views[0].on_host);
  std::vector<float> halved(a);
  for (float& v : halved) v *= 0.5f;
  const auto above = [&](float factor) {
    std::int32_t least = 0x7fffffff;
    for (const float v : rig.decoded().values) least = std::min(least, bits_of(factor * v));
    return least;
  };
  const std::int32_t bound = above(1);
  for (int step = 1; step < 5; ++step) {
    rig.produce(halved, step);
    EXPECT_LT(rig.state->kept[0], kept);
    EXPECT_GE(above(1), bound);
  }
  rig.produce(halved, 5);  // searched again
  EXPECT_EQ(rig.state->kept[0], kept);
}

TEST(Redsync, RatiosWithoutFeedback) {  // the search jumps between few values: means of several gradients
  const index_t n = 1000000;
  const auto ratios = [&](const char* name, const char* ratio) {
    double mean = 0;
    const int trials = 4;
    for (std::uint32_t seed = 1; seed <= trials; ++seed) {
      Rig rig(entry, {{"variant", "paper"}, {"search", "binary"}, {"ratio", ratio}}, Layout::flat(n), false);
      rig.produce(make_input(name, n, seed));
      mean += total_ratio(*rig.state) / trials;
    }
    return mean;
  };
  EXPECT_NEAR(ratios("laplace", "0.1"), 0.70, 0.2);
  EXPECT_NEAR(ratios("laplace", "0.01"), 1.21, 0.5);
  EXPECT_NEAR(ratios("laplace", "0.001"), 1.42, 0.9);
  EXPECT_NEAR(ratios("gauss", "0.1"), 0.18, 0.1);
  EXPECT_NEAR(ratios("gauss", "0.01"), 1.78, 0.5);
  EXPECT_NEAR(ratios("gauss", "0.001"), 0.64, 0.3);
}

TEST(Redsync, FixedVariantKeepsOneToFiveQuartersOfTheTarget) {
  Layout layout;
  layout.add("a", {100000}).add("b", {20000});
  for (const auto& name : {"laplace", "gauss", "heavy", "sparse", "spikes", "denormal", "huge"}) {
    for (const char* ratio : {"0.1", "0.01", "0.001"}) {
      SCOPED_TRACE(std::string(name) + " " + ratio);
      Rig rig(entry, {{"ratio", ratio}}, layout, false);
      for (int step = 0; step < 3; ++step) {
        const auto a = make_input(name, layout.count(), static_cast<std::uint32_t>(step));
        rig.produce(a, step);
        const Decoded d = rig.decoded();
        for (std::size_t s = 0; s < 2; ++s) {
          if (nonzeros_of(a, layout.segments[s]) <= rig.state->target[s]) continue;
          ASSERT_GE(rig.state->kept[s], rig.state->target[s]);
          ASSERT_LE(rig.state->kept[s], rig.state->target[s] * 5 / 4);
          expect_largest_sent(a, layout.segments[s], indices_of(d, layout.segments[s]));
        }
      }
    }
  }
}

TEST(Redsync, GuardsOnHostileInput) {
  check_guards(entry, {}, [](index_t k, index_t n) { return Bounds{k, std::min(n, 2 * k)}; });
  check_guards(entry, {{"variant", "paper"}, {"search", "trimmed"}}, [](index_t k, index_t) { return Bounds{k, k}; });
  check_guards(entry, {{"variant", "paper"}, {"search", "binary"}}, [](index_t, index_t n) { return Bounds{0, n}; });
}

TEST(Redsync, ScalingKeepsTheSet) { check_scaling(entry, {}); }

TEST(Redsync, MemoryLosesNothing) {
  check_memory(entry, {});
  check_memory(entry, {{"variant", "paper"}});
  check_memory(entry, {{"variant", "paper"}, {"search", "binary"}});
}

TEST(Redsync, PaperVariantIsUnstableUnderFeedback) {
  for (const char* ratio : {"0.01", "0.001"}) {
    const ClosedLoop loop = closed_loop(entry, {{"variant", "paper"}, {"search", "binary"}, {"ratio", ratio}}, 1);
    EXPECT_GT(loop.deviation, 0.35) << ratio;
    EXPECT_GT(loop.largest, 2.5) << ratio;
  }
}

TEST(Redsync, ClosedLoopHoldsTheTarget) {
  for (const char* ratio : {"0.01", "0.001"}) {
    const ClosedLoop loop = closed_loop(entry, {{"ratio", ratio}}, 1);
    EXPECT_GE(loop.mean, 1) << ratio;
    EXPECT_LT(loop.deviation, 0.12) << ratio;
    EXPECT_LE(loop.largest, 1.25) << ratio;
  }
}

}  // namespace redsync_test
}  // namespace sparse_test
