#include "gradcomp/compressors/detail/sparse/density.hpp"
#include "gradcomp/core/registry.hpp"
#include "unit/compressors/quanta_rig.hpp"

namespace sparse_test {
namespace dryden_test {

Rig rig_of(const Layout& layout, const std::string& ratio, const std::string& variant = "fixed", bool residual = true) {
  return Rig(find_entry("dryden"), {{"ratio", ratio}, {"variant", variant}}, layout, residual);
}

/// A payload, parsed exactly as its description says.
struct Classes {
  PayloadHeader header;
  std::vector<float> positive_mean, negative_mean;  ///< [segments]
  std::vector<std::uint32_t> positive_count;        ///< [segments]
  std::vector<std::uint32_t> positive, negative;    ///< indices
};

Classes classes_of(const Rig& rig) {
  const auto bytes = rig.payload();
  Classes c;
  std::memcpy(&c.header, bytes.data(), sizeof c.header);
  const std::size_t segments = rig.layout.segments.size(), kept = c.header.kept;
  EXPECT_EQ(bytes.size(), 32 + 12 * segments + 4 * kept);
  std::vector<std::uint32_t> words((bytes.size() - 32) / 4);
  std::memcpy(words.data(), bytes.data() + 32, 4 * words.size());
  std::uint32_t positives = 0;
  for (std::size_t s = 0; s < segments; ++s) {
    float means[2];
    std::memcpy(means, &words[3 * s], 8);
    c.positive_mean.push_back(means[0]);
    c.negative_mean.push_back(means[1]);
    c.positive_count.push_back(words[3 * s + 2]);
    positives += words[3 * s + 2];
  }
  const auto indices = words.begin() + static_cast<std::ptrdiff_t>(3 * segments);
  c.positive.assign(indices, indices + positives);
  c.negative.assign(indices + positives, words.end());
  return c;
}

/// One class of one segment as a serial loop.
struct Reference {
  std::vector<std::uint32_t> indices;
  float mean = 0;
};

Reference reference(const std::vector<float>& a, const Segment& segment, int sign, double ratio) {
  std::vector<float> members(a.size());
  index_t count = 0;
  for (index_t i = segment.offset; i < segment.offset + segment.count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const float v = static_cast<float>(sign) * a[at];
    members[at] = v > 0 ? v : 0;
    count += v > 0 ? 1 : 0;
  }
  Reference r;
  r.indices = top_k_indices(members, segment.offset, segment.count, compressors::target_kept(ratio, count));
  double sum = 0;
  for (const auto i : r.indices) sum += static_cast<double>(a[i]);
  if (!r.indices.empty()) r.mean = static_cast<float>(sum / static_cast<double>(r.indices.size()));
  return r;
}

double sum_of(const std::vector<float>& x) {
  double sum = 0;
  for (const float v : x) sum += static_cast<double>(v);
  return sum;
}

double sizes_of(const std::vector<float>& x) {
  double sum = 0;
  for (const float v : x) sum += static_cast<double>(std::fabs(v));
  return sum;
}

TEST(DrydenMethod, MatchesASerialReference) {
  for (const index_t n : {0, 1, 2, 31, 5001, 20001}) {
    const Layout layout = mixed_layout(n);
    for (const auto& name : input_names()) {
      for (const double ratio : {0.01, 0.3, 1.0}) {
        SCOPED_TRACE(name + " n=" + std::to_string(n) + " ratio=" + std::to_string(ratio));
        auto a = make_input(name, layout.count());
        for (float& v : a) v += 0.0f;
        Rig rig = rig_of(layout, std::to_string(ratio));
        rig.produce(a);
        const Classes c = classes_of(rig);
        std::vector<std::uint32_t> positive, negative;
        std::vector<float> rest(a), sent(a.size());
        for (std::size_t s = 0; s < layout.segments.size(); ++s) {
          const Reference plus = reference(a, layout.segments[s], 1, ratio);
          const Reference minus = reference(a, layout.segments[s], -1, ratio);
          ASSERT_EQ(c.positive_count[s], plus.indices.size());
          ASSERT_FLOAT_EQ(c.positive_mean[s], plus.mean);
          ASSERT_FLOAT_EQ(c.negative_mean[s], minus.mean);
          const auto take = [&](const Reference& r, std::vector<std::uint32_t>& all, float mean) {
            all.insert(all.end(), r.indices.begin(), r.indices.end());
            for (const auto i : r.indices) {
              sent[i] = mean;
              rest[i] = a[i] - mean;
            }
          };
          take(plus, positive, c.positive_mean[s]);
          take(minus, negative, c.negative_mean[s]);
          ASSERT_EQ(rig.state->kept[s], static_cast<index_t>(plus.indices.size() + minus.indices.size()));
          ASSERT_EQ(rig.state->target[s], rig.state->kept[s]);
        }
        ASSERT_EQ(c.positive, positive);
        ASSERT_EQ(c.negative, negative);
        ASSERT_EQ(first_difference(rig.residual(), rest), -1);
        ASSERT_EQ(rig.decode(1, std::vector<float>(a.size())), sent);
        ASSERT_LE(rig.message.size, rig.method->payload_capacity(layout));
      }
    }
  }
}

TEST(DrydenMethod, MassIsKeptAndTheRestOfEveryClassSumsToZero) {
  for (const char* variant : {"fixed", "paper"}) {
    for (const char* name : {"laplace", "gauss", "heavy", "sparse", "levels"}) {
      SCOPED_TRACE(std::string(variant) + " " + name);
      Rig rig = rig_of(Layout::flat(30000), "0.05", variant);
      const auto a = make_input(name, 30000);
      rig.produce(a);
      const auto rest = rig.residual(), sent = rig.decode(1, std::vector<float>(a.size()));
      const double rounding = 0x1p-23 * sizes_of(sent) + 0x1p-24 * sizes_of(a);
      EXPECT_NEAR(sum_of(rest), sum_of(a) - sum_of(sent), rounding);
      const Classes c = classes_of(rig);
      for (const auto* kept : {&c.positive, &c.negative}) {
        ASSERT_FALSE(kept->empty());
        double sum = 0;
        for (const auto i : *kept) sum += static_cast<double>(rest[i]);
        EXPECT_NEAR(sum, 0, rounding);
      }
    }
  }
}

TEST(DrydenMethod, RepairsBringTheSampledCountNearItsTarget) {
  for (const char* name : {"laplace", "gauss", "heavy"}) {
    for (const char* ratio : {"0.01", "0.1"}) {
      Rig rig = rig_of(Layout::flat(200000), ratio, "paper");
      rig.produce(make_input(name, 200000));
      const Classes c = classes_of(rig);
      const double wanted = std::stod(ratio) * 100000;
      for (const auto* kept : {&c.positive, &c.negative}) {
        EXPECT_GE(static_cast<double>(kept->size()), 0.75 * wanted) << name << " " << ratio;
        EXPECT_LE(static_cast<double>(kept->size()), 1.3 * wanted) << name << " " << ratio;
      }
      const double expected = static_cast<double>(rig.state->target[0]);
      EXPECT_NEAR(expected, 2 * wanted, 0.02 * wanted);
    }
  }
}

TEST(DrydenMethod, TargetIsKnownBeforeTheFirstStep) {
  const Layout layout = Layout{}.add("a", {1000}).add("empty", {0}).add("b", {3});
  EXPECT_EQ(rig_of(layout, "0.01").state->target, (std::vector<index_t>{10, 0, 1}));
}

TEST(DrydenMethod, SamplesFollowStepAndRank) {
  const auto kept = [](std::int64_t step, int rank) {
    Rig rig = rig_of(Layout::flat(50000), "0.01", "paper");
    rig.context.rank = rank;
    rig.produce(make_input("gauss", 50000), step);
    return classes_of(rig).positive;
  };
  EXPECT_EQ(kept(3, 1), kept(3, 1));
  EXPECT_NE(kept(3, 1), kept(4, 1));
  EXPECT_NE(kept(3, 1), kept(3, 2));
}

TEST(DrydenMethod, SmallAndEmptyClassesEndEverySearch) {
  for (const char* variant : {"fixed", "paper"}) {
    for (const index_t n : {0, 1, 2, 31, 150}) {
      for (const auto& name : input_names()) {
        SCOPED_TRACE(std::string(variant) + " " + name + " n=" + std::to_string(n));
        Rig rig = rig_of(Layout::flat(n), "0.01", variant);
        const auto a = make_input(name, n);
        rig.produce(a);
        const Classes c = classes_of(rig);
        for (const auto i : c.positive) ASSERT_GT(a[i], 0);
        for (const auto i : c.negative) ASSERT_LT(a[i], 0);
        if (c.positive.empty()) {
          ASSERT_EQ(c.positive_mean[0], 0);
        }
        for (const float v : rig.residual()) ASSERT_TRUE(std::isfinite(v));
      }
    }
  }
  Rig rig = rig_of(Layout::flat(1000), "0.01");  // no negative entry
  rig.produce(std::vector<float>(1000, 2.0f));
  const Classes c = classes_of(rig);
  EXPECT_EQ(c.positive.size(), 10u);
  EXPECT_TRUE(c.negative.empty());
  EXPECT_EQ(c.positive_mean[0], 2);
}

TEST(DrydenMethod, SignFlipsSwapTheClasses) {
  const index_t n = 50001;
  auto a = make_input("gauss", n);
  Rig rig = rig_of(Layout::flat(n), "0.01"), flipped = rig_of(Layout::flat(n), "0.01");
  rig.produce(a);
  for (float& v : a) v *= -0x1p-30f;
  flipped.produce(a);
  const Classes c = classes_of(rig), f = classes_of(flipped);
  EXPECT_EQ(c.positive, f.negative);
  EXPECT_EQ(c.negative, f.positive);
  EXPECT_EQ(c.positive_mean[0] * -0x1p-30f, f.negative_mean[0]);
}

TEST(DrydenMethod, ManyStepsLoseNothing) {
  Rig rig = rig_of(Layout::flat(5000), "0.01");
  expect_nothing_lost(rig, 50, 100 * 40 * 0x1p-24);
}

TEST(DrydenMethod, CorruptPayloadsAreRefused) {
  Rig rig = rig_of(Layout{}.add("a", {1000}).add("b", {1000}), "0.01");
  rig.produce(make_input("gauss", 2000));
  const auto good = rig.payload();
  const Classes c = classes_of(rig);
  ASSERT_GT(c.positive_count[0], 2u);
  ASSERT_GT(c.positive_count[1], 2u);
  ASSERT_GT(c.negative.size(), 2u);
  const std::size_t indices = 32 + 24, last = indices + 4 * (c.header.kept - 1);
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const float mean : {-1.0f, inf, nan}) expect_payload_refused(rig, with_value(good, 32, mean), "mean");
  for (const float mean : {1.0f, -inf, nan}) expect_payload_refused(rig, with_value(good, 36, mean), "negative mean");
  expect_payload_refused(rig, with_value(good, 40, c.positive_count[0] + 1), "counted by another segment");
  expect_payload_refused(rig, with_value(good, 40, ~std::uint32_t{0}), "count");
  expect_payload_refused(rig, with_value(good, indices, std::uint32_t{999}), "not ascending");
  expect_payload_refused(rig, with_value(good, last, std::uint32_t{2000}), "index n");
  expect_payload_refused(rig, with_value(good, last, ~std::uint32_t{0}), "index far out");
  expect_payload_refused(rig, with_value(good, 16, std::uint64_t{c.header.kept - 1}), "fewer kept than bytes");
  expect_payload_refused(rig, with_value(good, 24, PayloadHeader::flag_diverged), "flag with entries");
}

}  // namespace dryden_test
}  // namespace sparse_test
