#include <boost/math/distributions/normal.hpp>

#include "gradcomp/core/registry.hpp"
#include "unit/compressors/threshold_checks.hpp"

namespace sparse_test {
namespace gaussian_k_test {

const Entry entry = find_entry("gaussian_k");

index_t count_above(const std::vector<float>& a, double eta) {
  return std::count_if(a.begin(), a.end(), [&](float v) { return std::fabs(static_cast<double>(v)) > eta; });
}

/// The authors' loop. Returns its last threshold.
double published(const std::vector<float>& a, double ratio, index_t k) {
  double sum = 0, squares = 0;
  const double n = static_cast<double>(a.size());
  for (const float v : a) sum += static_cast<double>(v);
  for (const float v : a) squares += std::pow(static_cast<double>(v) - sum / n, 2);
  const double z = -boost::math::quantile(boost::math::normal(), ratio / 2);
  double eta = std::max(0.0, sum / n + z * std::sqrt(squares / (n - 1))), last = eta;
  for (int look = 0; look < 3; ++look) {
    last = eta;
    const index_t count = count_above(a, eta);
    if (3 * count < 2 * k) {
      eta *= 0.5;
    } else if (3 * count > 4 * k) {
      eta *= 1.5;
    } else {
      break;
    }
  }
  return last;
}

TEST(GaussianK, PaperVariantIsThePublishedAlgorithm) {
  const index_t n = 50000;
  for (const auto& name : {"laplace", "gauss", "heavy", "sparse", "levels", "spikes", "ties"}) {
    for (const double shift : {0.0, 0.3, -5.0}) {
      auto a = make_input(name, n);
      for (float& v : a) v += static_cast<float>(shift);
      for (const double ratio : {0.001, 0.01, 0.1, 0.5}) {
        SCOPED_TRACE(std::string(name) + " ratio=" + std::to_string(ratio) + " shift=" + std::to_string(shift));
        Rig rig(entry, {{"variant", "paper"}, {"ratio", std::to_string(ratio)}}, Layout::flat(n), true);
        rig.produce(a);
        expect_conservation(rig, after_first(a));
        const index_t k = rig.state->target[0], kept = rig.state->kept[0];
        if (nonzeros_of(a, rig.layout.segments[0]) <= k) continue;
        const double eta = published(a, ratio, k), doubt = 1e-5 * eta + 1e-12;  // float sums within tiles
        ASSERT_GE(kept, count_above(a, eta + doubt));
        ASSERT_LE(kept, count_above(a, eta - doubt));
        expect_largest_sent(a, rig.layout.segments[0], rig.decoded().indices);
      }
    }
  }
}

TEST(GaussianK, RatiosWithoutFeedback) {
  const index_t n = 1000000;
  const auto ratio_of = [&](const char* name, const char* ratio, const char* variant) {
    Rig rig(entry, {{"variant", variant}, {"ratio", ratio}}, Layout::flat(n), false);
    rig.produce(make_input(name, n));
    return total_ratio(*rig.state);
  };
  EXPECT_NEAR(ratio_of("gauss", "0.1", "paper"), 1.00, 0.02);
  EXPECT_NEAR(ratio_of("gauss", "0.01", "paper"), 1.00, 0.05);
  EXPECT_NEAR(ratio_of("gauss", "0.001", "paper"), 1.01, 0.12);
  EXPECT_NEAR(ratio_of("laplace", "0.1", "paper"), 0.98, 0.02);
  EXPECT_NEAR(ratio_of("laplace", "0.01", "paper"), 6.5, 0.2);
  EXPECT_NEAR(ratio_of("laplace", "0.001", "paper"), 0.92, 0.12);
  for (const char* ratio : {"0.1", "0.01", "0.001"}) {
    for (const char* name : {"gauss", "laplace"}) EXPECT_NEAR(ratio_of(name, ratio, "fixed"), 1, 0.334) << name;
    EXPECT_GT(ratio_of("heavy", ratio, "fixed"), 0.66)
        << ratio;  // far from a normal distribution, so that two reads are needed
    EXPECT_LE(ratio_of("heavy", ratio, "fixed"), 2) << ratio;
  }
}

TEST(GaussianK, GuardsOnHostileInput) {
  check_guards(entry, {}, [](index_t k, index_t n) { return Bounds{(2 * k + 2) / 3, std::min(n, 2 * k)}; });
  check_guards(entry, {{"variant", "paper"}}, [](index_t, index_t n) { return Bounds{0, n}; });
}

// This holds for the fixed variant only: the published formula depends on the sign of the mean.
TEST(GaussianK, ScalingKeepsTheSet) { check_scaling(entry, {}); }

TEST(GaussianK, MemoryLosesNothing) {
  check_memory(entry, {});
  check_memory(entry, {{"variant", "paper"}});
}

TEST(GaussianK, PaperVariantCyclesAndStarvesUnderFeedback) {
  const Values paper = {{"variant", "paper"}, {"ratio", "0.01"}}, sparser = {{"variant", "paper"}, {"ratio", "0.001"}};
  EXPECT_GT(closed_loop(entry, paper, 0).mean, 2);
  EXPECT_LT(closed_loop(entry, sparser, 1).mean, 0.1);
}

TEST(GaussianK, ClosedLoopHoldsTheTarget) {
  for (const char* ratio : {"0.01", "0.001"}) {
    const ClosedLoop loop = closed_loop(entry, {{"ratio", ratio}}, 1);
    EXPECT_NEAR(loop.mean, 1, 0.2) << ratio;
    EXPECT_LE(loop.largest, 4.0 / 3) << ratio;
    EXPECT_LT(loop.deviation, 0.15) << ratio;
  }
}

}  // namespace gaussian_k_test
}  // namespace sparse_test
