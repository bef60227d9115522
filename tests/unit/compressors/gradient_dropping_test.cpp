#include "gradcomp/compressors/detail/sparse/sampled.hpp"
#include "gradcomp/core/registry.hpp"
#include "unit/compressors/threshold_checks.hpp"

namespace sparse_test {
namespace gradient_dropping_test {

const Entry entry = find_entry("gradient_dropping");

/// The paper's algorithm for one segment: the threshold comes from the sorted sample, and everything above it is sent.
std::vector<std::uint32_t> published(const std::vector<float>& a, const Segment& segment, double ratio,
                                     index_t sample) {
  const index_t m = std::min(sample, segment.count), stride = segment.count / m;
  std::vector<float> x;
  for (index_t j = 0; j < m; ++j) x.push_back(std::fabs(a[static_cast<std::size_t>(segment.offset + j * stride)]));
  std::sort(x.begin(), x.end());
  const auto at = static_cast<index_t>(std::floor(static_cast<double>(m) * (1 - ratio)));
  const float threshold = x[static_cast<std::size_t>(std::max<index_t>(0, at - 1))];
  std::vector<std::uint32_t> sent;
  for (index_t i = segment.offset; i < segment.offset + segment.count; ++i)
    if (std::fabs(a[static_cast<std::size_t>(i)]) > threshold) sent.push_back(static_cast<std::uint32_t>(i));
  return sent;
}

TEST(GradientDropping, PaperVariantIsThePublishedAlgorithm) {
  Layout layout;
  layout.add("a", {40001}).add("tiny", {500}).add("empty", {0}).add("b", {20000});
  for (const auto& name : input_names()) {
    const auto a = make_input(name, layout.count());
    for (const double ratio : {0.002, 0.01, 0.1, 0.5}) {
      for (const index_t sample : {1000, 15000}) {
        SCOPED_TRACE(name + " ratio=" + std::to_string(ratio) + " sample=" + std::to_string(sample));
        Rig rig(entry, {{"variant", "paper"}, {"ratio", std::to_string(ratio)}, {"sample", std::to_string(sample)}},
                layout, true);
        rig.produce(a);
        expect_conservation(rig, after_first(a));
        const Decoded d = rig.decoded();
        for (const std::size_t s : {0u, 3u}) {
          const Segment& segment = layout.segments[s];
          if (nonzeros_of(a, segment) <= rig.state->target[s]) continue;
          // Sums of |a| of "huge" overflow, which is a case of a guard.
          const auto expected = name == "huge" ? top_k_indices(a, segment.offset, segment.count, rig.state->target[s])
                                               : published(a, segment, ratio, sample);
          ASSERT_EQ(indices_of(d, segment), expected);
        }
        ASSERT_EQ(rig.state->kept[2], 0);
      }
    }
  }
}

TEST(GradientDropping, SampleOfTheFixedVariantIsOddCoversTheSegmentAndKeepsTheCap) {
  for (const index_t n : {1, 2, 3, 1000, 99999, 100000, 100001, 190000, 299999, 300000, 1234567}) {
    for (const index_t most : {1, 7, 100000}) {
      const auto plan = compressors::dropping_sample(n, 0.01, most, true);
      EXPECT_EQ(plan.stride % 2, 1) << n;
      EXPECT_LE(plan.count, most);
      EXPECT_GE(plan.count, std::min(n, std::max<index_t>(1, most / 3 - 1))) << n;
      EXPECT_LE((plan.count - 1) * plan.stride, n - 1);
      EXPECT_GT((plan.count + 1) * plan.stride, n - 1) << "the sample does not reach the end";
      EXPECT_GE(plan.rank, 1);
      EXPECT_LE(plan.rank, plan.count);
    }
  }
  const auto plan = compressors::dropping_sample(1000000, 0.01, 100000, false);  // as published
  EXPECT_EQ(plan.stride, 10);
  EXPECT_EQ(plan.count, 100000);
  EXPECT_EQ(plan.rank, 100000 - 98999);
}

TEST(GradientDropping, DeviationIsThatOfTheSample) {  // 1 / sqrt(m ratio)
  const index_t n = 200000, m = 20000;
  for (const char* variant : {"paper", "fixed"}) {
    for (const double ratio : {0.1, 0.01}) {
      double sum = 0, squares = 0;
      const int trials = 40;
      const index_t used = compressors::dropping_sample(n, ratio, m, variant[0] == 'f').count;
      for (int t = 0; t < trials; ++t) {
        Rig rig(entry, {{"variant", variant}, {"ratio", std::to_string(ratio)}, {"sample", std::to_string(m)}},
                Layout::flat(n), false);
        const float* const x = laplace_window(n, static_cast<std::uint64_t>(t));
        rig.produce({x, x + n}, t);
        const double r = total_ratio(*rig.state) - 1;
        sum += r / trials;
        squares += r * r / trials;
      }
      const double expected = std::sqrt((1 - ratio) / (static_cast<double>(used) * ratio));
      EXPECT_NEAR(std::sqrt(squares), expected, 0.4 * expected) << variant << " " << ratio;
      EXPECT_NEAR(sum, 0, 4 * expected / std::sqrt(trials) + 2 / (static_cast<double>(used) * ratio));
    }
  }
}

TEST(GradientDropping, PeriodicDataFoolsTheFixedStrideOnly) {
  const index_t n = 40000;  // sample 10000: stride 4
  auto a = make_input("laplace", n);
  for (std::size_t i = 0; i < a.size(); i += 4) a[i] *= 1e-3f;  // the paper's sample sees only these elements
  const auto ratio_of = [&](const char* variant) {
    Rig rig(entry, {{"variant", variant}, {"ratio", "0.01"}, {"sample", "10000"}}, Layout::flat(n), false);
    rig.produce(a);
    return total_ratio(*rig.state);
  };
  EXPECT_GT(ratio_of("paper"), 50);
  EXPECT_NEAR(ratio_of("fixed"), 1, 0.4);
}

TEST(GradientDropping, ConstantGradientsAreSentByTheFixedVariantOnly) {
  for (const bool fixed : {true, false}) {
    Rig rig(entry, {{"variant", fixed ? "fixed" : "paper"}}, Layout::flat(5000), true);
    rig.produce(std::vector<float>(5000, 0.5f));
    EXPECT_EQ(rig.state->kept[0], fixed ? 50 : 0);
  }
}

TEST(GradientDropping, GuardsOnHostileInput) {
  check_guards(entry, {}, [](index_t k, index_t n) { return Bounds{(k + 1) / 2, std::min(n, 2 * k)}; });
  check_guards(entry, {{"variant", "paper"}}, [](index_t, index_t n) { return Bounds{0, n}; });
}

TEST(GradientDropping, ScalingKeepsTheSet) { check_scaling(entry, {}); }

TEST(GradientDropping, MemoryLosesNothing) {
  check_memory(entry, {});
  check_memory(entry, {{"variant", "paper"}});
}

TEST(GradientDropping, ClosedLoopHoldsTheTarget) {
  for (const char* variant : {"paper", "fixed"}) {
    for (const char* ratio : {"0.01", "0.001"}) {
      const ClosedLoop loop = closed_loop(entry, {{"variant", variant}, {"ratio", ratio}}, 1);
      EXPECT_NEAR(loop.mean, 1, 0.06) << variant << " " << ratio;
      EXPECT_LT(loop.deviation, 0.25) << variant << " " << ratio;
    }
  }
}

// About 2 % of the elements lie above the second largest of 100 samples.
TEST(GradientDropping, BoundIsThatOfTheStepAfterAWarmUp) {
  const Values options = {{"ratio", "0.001"}, {"sample", "100"}, {"warmup", "quarters"}, {"warmup.steps", "5"}};
  Rig rig(entry, options, Layout::flat(200000), true);
  for (int step = 0; step < 10; ++step) {
    rig.produce(make_input("laplace", 200000, static_cast<std::uint32_t>(step)), step);
    EXPECT_LE(rig.state->kept[0], 2 * rig.state->target[0]) << step;
  }
}

TEST(GradientDropping, WarmUpIsDenseWhenAsked) {
  Rig rig(entry, {{"warmup", "dense"}, {"warmup.steps", "2"}}, Layout::flat(3000), true);
  for (int step = 0; step < 3; ++step) {
    rig.produce(make_input("gauss", 3000, static_cast<std::uint32_t>(step)), step);
    if (step < 2) {
      EXPECT_EQ(rig.state->kept[0], 3000);
    } else {
      EXPECT_NEAR(static_cast<double>(rig.state->kept[0]), 30, 15);
    }
  }
}

}  // namespace gradient_dropping_test
}  // namespace sparse_test
