#include "gradcomp/compressors/detail/sparse/sparsifier.hpp"
#include "gradcomp/core/registry.hpp"
#include "unit/compressors/sparse_rig.hpp"

namespace sparse_test {
namespace top_k_test {

Rig rig_of(const Layout& layout, const std::string& ratio, bool residual = true) {
  return Rig(find_entry("top_k"), {{"ratio", ratio}}, layout, residual);
}

TEST(TopKMethod, SendsTheKLargestOfEachSegmentAndKeepsTheRest) {
  for (const index_t n : {0, 1, 2, 31, 5001, 100000}) {
    const Layout layout = mixed_layout(n);
    for (const auto& name : input_names()) {
      for (const double ratio : {0.001, 0.01, 0.25, 1.0}) {
        SCOPED_TRACE(name + " n=" + std::to_string(n) + " ratio=" + std::to_string(ratio));
        const auto a = make_input(name, layout.count());
        Rig rig = rig_of(layout, std::to_string(ratio));
        rig.produce(a);
        std::vector<std::uint32_t> expected;
        for (std::size_t s = 0; s < layout.segments.size(); ++s) {
          const auto& segment = layout.segments[s];
          const index_t k = compressors::target_kept(ratio, segment.count);
          ASSERT_EQ(rig.state->kept[s], k);
          ASSERT_EQ(rig.state->target[s], k);
          const auto part = top_k_indices(a, segment.offset, segment.count, k);
          expected.insert(expected.end(), part.begin(), part.end());
        }
        ASSERT_EQ(rig.decoded().indices, expected);
        std::vector<float> accumulated(a);  // 1 * 0 + 1 * a, which turns -0 into 0
        for (float& v : accumulated) v += 0.0f;
        expect_conservation(rig, accumulated);
      }
    }
  }
}

TEST(TopKMethod, FewDenormalsAmongZeros) {  // the sample has fewer nonzeros than its bound needs
  for (const index_t n : {4096, 50000}) {
    auto a = make_input("denormal", n);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = i % 10 == 3 ? a[i] + 0.0f : 0.0f;
    Rig rig = rig_of(Layout::flat(n), "0.005");
    rig.produce(a);
    ASSERT_EQ(rig.decoded().indices, top_k_indices(a, 0, n, n / 200));
    expect_conservation(rig, a);
  }
}

TEST(TopKMethod, ContractionBound) {  // equality for constants
  const index_t n = 200000;
  for (const auto& name : {"laplace", "gauss", "heavy", "constant", "levels"}) {
    const auto a = make_input(name, n);
    Rig rig = rig_of(Layout::flat(n), "0.01");
    rig.produce(a);
    const double rest = squares(rig.residual()), bound = (1 - 0.01) * squares(a);
    EXPECT_LE(rest, bound * (1 + 1e-12)) << name;
    if (std::string(name) == "constant") {
      EXPECT_NEAR(rest, bound, 1e-9 * bound);
    }
  }
}

TEST(TopKMethod, LargestOfTheRestIsNotAboveTheSmallestSent) {
  const index_t n = 1000003;
  const auto a = make_input("laplace", n);
  Rig rig = rig_of(Layout::flat(n), "0.01");
  rig.produce(a);
  std::int32_t least = 0x7fffffff, most = 0;
  for (const float v : rig.decoded().values) least = std::min(least, bits_of(v));
  for (const float v : rig.residual()) most = std::max(most, bits_of(v));
  EXPECT_GE(least, most);
}

TEST(TopKMethod, SignFlipsAndPowersOfTwoKeepTheSet) {
  const index_t n = 100001;
  const auto a = make_input("gauss", n);
  Rig rig = rig_of(Layout::flat(n), "0.01");
  rig.produce(a);
  const auto reference = rig.decoded();
  for (const float factor : {-1.0f, 0x1p20f, -0x1p-30f}) {
    std::vector<float> scaled(a);
    for (float& v : scaled) v *= factor;
    Rig other = rig_of(Layout::flat(n), "0.01");
    other.produce(scaled);
    const auto d = other.decoded();
    ASSERT_EQ(d.indices, reference.indices);
    for (std::size_t j = 0; j < d.values.size(); ++j) ASSERT_EQ(d.values[j], factor * reference.values[j]);
  }
}

TEST(TopKMethod, ManyStepsLoseNothing) {
  Rig rig = rig_of(Layout::flat(20000), "0.01");
  expect_nothing_lost(rig, 50, 50 * 20 * 0x1p-24);
}

TEST(TopKMethod, WithoutFeedbackTheGradientIsSentAsItIs) {
  const auto g = make_input("laplace", 5000);
  Rig rig = rig_of(Layout::flat(5000), "0.1", false);
  rig.produce(g);
  const auto d = rig.decoded();
  ASSERT_EQ(d.indices, top_k_indices(g, 0, 5000, 500));
  for (std::size_t j = 0; j < d.indices.size(); ++j) ASSERT_TRUE(same_bits(d.values[j], g[d.indices[j]]));
  EXPECT_EQ(to_host(rig.gradient.data(), 5000), g);
}

TEST(TopKMethod, DecodeAddsTheWeightedEntries) {
  Rig rig = rig_of(mixed_layout(5000), "0.01");
  const auto a = make_input("gauss", rig.layout.count());
  rig.produce(a);
  std::vector<float> expected(a.size(), 3.0f);
  const auto d = rig.decoded();
  for (std::size_t j = 0; j < d.indices.size(); ++j) expected[d.indices[j]] += 0.25f * d.values[j];
  EXPECT_EQ(rig.decode(0.25f, std::vector<float>(a.size(), 3.0f)), expected);
}

TEST(TopKMethod, CorruptPayloadsAreRefused) {
  Rig rig = rig_of(Layout::flat(1000), "0.01");
  rig.produce(make_input("gauss", 1000));
  const auto good = rig.payload();
  const auto refuse = [&](std::size_t at, auto value, const char* what) {
    expect_payload_refused(rig, with_value(good, at, value), what);
  };
  const auto cut = [&](std::size_t size) {
    return std::vector<std::byte>(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
  };
  for (std::size_t size : {0ul, 1ul, 31ul, 32ul, good.size() - 1}) expect_payload_refused(rig, cut(size), "truncated");
  auto longer = good;
  longer.push_back(std::byte{});
  expect_payload_refused(rig, longer, "too long");
  refuse(8, std::uint64_t{1001}, "elements");
  refuse(16, std::uint64_t{9}, "fewer kept than bytes");
  refuse(16, ~std::uint64_t{0}, "huge kept");
  refuse(16, std::uint64_t{1} << 61, "kept whose size overflows");
  refuse(24, std::uint32_t{2}, "unknown flag");
  refuse(28, std::uint32_t{1}, "other options");
  refuse(32 + 4 * 9, std::uint32_t{1000}, "index n");
  refuse(32 + 4 * 9, ~std::uint32_t{0}, "index far out");
  refuse(32 + 4 * 1, std::uint32_t{0}, "indices not ascending");
  refuse(32 + 4 * 10, std::numeric_limits<float>::infinity(), "infinite value");
}

TEST(TopKMethod, RefusesBadRatios) {
  const Entry entry = find_entry("top_k");
  for (const char* ratio : {"0", "-1", "1.5", "nan", "x"})
    EXPECT_THROW(ParameterValues("top_k", entry.info.parameters, {{"ratio", ratio}}), Error) << ratio;
}

TEST(TopKMethod, GlobalChoiceKeepsMoreEnergyThanOnePerLayer) {
  Layout layout;
  layout.add("a", {4000}).add("b", {2000}).add("c", {3000});
  auto a = make_input("laplace", layout.count());
  for (std::size_t i = 4000; i < 6000; ++i) a[i] *= 0.1f;  // a global choice sends little of this layer
  const auto kept = [&](const Layout& seen) {
    Rig rig(find_entry("top_k"), {{"ratio", "0.01"}}, seen, false);
    rig.produce(a);
    return rig.decoded();
  };
  const auto local = kept(layout), global = kept(layout.fused());
  ASSERT_EQ(local.values.size(), global.values.size());
  EXPECT_GT(squares(global.values), squares(local.values));
  const auto in_b = [](const Decoded& d) {
    return std::count_if(d.indices.begin(), d.indices.end(), [](std::uint32_t i) { return i >= 4000 && i < 6000; });
  };
  EXPECT_EQ(in_b(local), 20);
  EXPECT_EQ(in_b(global), 0);
}

TEST(TopKMethod,
     KeepsTheLastOfAscendingValues) {  // GRACE cuts at the (k + 1)-th value in the order of indices, and loses the 5
  Rig rig(find_entry("top_k"), {{"ratio", "0.67"}}, Layout::flat(3), false);
  rig.produce({3, 4, 5});
  EXPECT_EQ(rig.decoded().indices, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(rig.decoded().values, (std::vector<float>{4, 5}));
}

}  // namespace top_k_test
}  // namespace sparse_test
