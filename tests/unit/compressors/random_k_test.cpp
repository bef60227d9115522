#include "gradcomp/compressors/detail/sparse/sparsifier.hpp"
#include "gradcomp/core/registry.hpp"
#include "unit/compressors/sparse_rig.hpp"

namespace sparse_test {
namespace random_k_test {

Rig rig_of(const Layout& layout, std::map<std::string, std::string> options, bool residual) {
  return Rig(find_entry("random_k"), options, layout, residual);
}

/// Rig::finish() after an exchange with this sum.
std::vector<float> finish(Rig& rig, const std::vector<float>& sum) {
  to_device(sum, static_cast<float*>(rig.message.result));
  return rig.finish();
}

TEST(RandomKMethod, SendsExactlyKEntriesAndKeepsTheRest) {
  for (const index_t n : {0, 1, 2, 31, 5001, 1000003}) {
    for (const double ratio : {0.001, 0.01, 0.3, 1.0}) {
      SCOPED_TRACE("n=" + std::to_string(n) + " ratio=" + std::to_string(ratio));
      Rig rig = rig_of(mixed_layout(n), {{"ratio", std::to_string(ratio)}}, true);
      const auto a = make_input("gauss", rig.layout.count());
      rig.produce(a, 3);
      ASSERT_EQ(rig.message.bytes(), rig.method->payload_bytes(rig.layout, 0));
      const auto out = finish(rig, sent_values(rig)), rest = rig.residual();
      std::vector<float> both(out);
      index_t shared = 0;
      for (std::size_t i = 0; i < both.size(); ++i) {
        both[i] += rest[i];
        shared += out[i] != 0 && rest[i] != 0 ? 1 : 0;
      }
      ASSERT_EQ(first_difference(both, a), -1);
      ASSERT_EQ(shared, 0);
      std::vector<index_t> kept(rig.layout.segments.size());
      for (std::size_t s = 0; s < kept.size(); ++s) {
        const auto& segment = rig.layout.segments[s];
        for (index_t i = segment.offset; i < segment.offset + segment.count; ++i)
          kept[s] += rest[static_cast<std::size_t>(i)] == 0 ? 1 : 0;
        ASSERT_EQ(kept[s], compressors::target_kept(ratio, segment.count));
      }
      ASSERT_EQ(rig.state->kept, kept);
    }
  }
}

TEST(RandomKMethod, SameEntriesOnAllRanksOthersNextStep) {
  const Layout layout = mixed_layout(9000);
  const std::vector<float> ones(static_cast<std::size_t>(layout.count()), 1.0f);
  const auto chosen = [&](int rank, std::uint64_t seed, std::int64_t step) {
    Rig rig = rig_of(layout, {}, true);
    rig.context.rank = rank;
    rig.context.ranks = 3;
    rig.context.seed = seed;
    rig.produce(ones, step);
    return rig.residual();
  };
  EXPECT_EQ(chosen(0, 5, 9), chosen(2, 5, 9));
  EXPECT_NE(chosen(0, 5, 9), chosen(0, 5, 10));
  EXPECT_NE(chosen(0, 5, 9), chosen(0, 6, 9));
}

TEST(RandomKMethod, MeanOverRanks) {
  const index_t n = 1000;
  std::vector<float> sum;
  std::vector<float> mean(static_cast<std::size_t>(n));
  std::vector<Rig> rigs;
  const auto g0 = make_input("levels", n, 0);
  for (int rank = 0; rank < 4; ++rank) {
    rigs.push_back(rig_of(Layout::flat(n), {{"ratio", "0.2"}}, true));
    rigs.back().context.ranks = 4;
    const auto g = make_input("levels", n, static_cast<std::uint32_t>(rank));  // sums of integers are exact
    rigs.back().produce(g);
    const auto values = sent_values(rigs.back());
    sum.resize(values.size());
    for (std::size_t j = 0; j < values.size(); ++j) sum[j] += values[j];
    for (std::size_t i = 0; i < g.size(); ++i) mean[i] += 0.25f * g[i];
  }
  const auto out = finish(rigs[0], sum), rest = rigs[0].residual();
  int kept = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    kept += rest[i] != g0[i] || out[i] != 0 ? 1 : 0;
    ASSERT_TRUE((out[i] == mean[i] && rest[i] == 0) || (out[i] == 0 && rest[i] == g0[i])) << i;
  }
  EXPECT_LE(kept, 200);
  EXPECT_GT(kept, 150) << "of 200, some of which are 0";
}

TEST(RandomKMethod, UnbiasedMeanOverSeedsAndItsVariance) {
  const index_t n = 200, k = 20;
  const auto x = make_input("gauss", n);
  Rig rig = rig_of(Layout::flat(n), {{"ratio", "0.1"}, {"scale", "unbiased"}}, false);
  const int draws = 20000;
  std::vector<double> mean(static_cast<std::size_t>(n));
  double error = 0;
  for (int d = 0; d < draws; ++d) {
    rig.produce(x, d);
    const auto out = finish(rig, sent_values(rig));
    for (std::size_t i = 0; i < out.size(); ++i) {
      mean[i] += static_cast<double>(out[i]) / draws;
      error += std::pow(static_cast<double>(out[i]) - static_cast<double>(x[i]), 2) / draws;
    }
  }
  const double scale = static_cast<double>(n) / static_cast<double>(k) - 1;
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const double deviation = std::fabs(static_cast<double>(x[i])) * std::sqrt(scale / draws);
    ASSERT_NEAR(mean[i], static_cast<double>(x[i]), 5 * deviation) << i;
  }
  EXPECT_NEAR(error, scale * squares(x), 0.03 * scale * squares(x));
}

TEST(RandomKMethod, ResidualHoldsItsExpectedShare) {
  const index_t n = 300000;
  const auto x = make_input("gauss", n);
  Rig rig = rig_of(Layout::flat(n), {{"ratio", "0.1"}}, true);
  rig.produce(x);
  EXPECT_NEAR(squares(rig.residual()), 0.9 * squares(x), 0.01 * squares(x));
}

TEST(RandomKMethod, AnOverflowOfAnyElementOfTheSumIsSeen) {
  const auto g = make_input("gauss", 1000);
  for (const float value : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()}) {
    for (const std::size_t at : {std::size_t{0}, std::size_t{1}, std::size_t{77}, std::size_t{199}}) {
      Rig rig = rig_of(Layout::flat(1000), {{"ratio", "0.2"}}, true);
      rig.produce(g);
      auto sum = sent_values(rig);
      ASSERT_EQ(sum.size(), 200u);
      sum[at] = value;
      EXPECT_TRUE(finish(rig, sum).empty()) << value << " in element " << at;
    }
  }
}

TEST(RandomKMethod, ScalingWithAResidualIsRefused) {
  Rig rig = rig_of(Layout::flat(100), {{"scale", "unbiased"}}, true);
  EXPECT_THROW(rig.produce(make_input("gauss", 100)), Error);
}

}  // namespace random_k_test
}  // namespace sparse_test
