// int8_block against a plain serial reference of the format: unbiased, error bound, nothing lost with feedback, sizes,
// bytes, hostile payloads.
#include "gradcomp/core/registry.hpp"
#include "unit/compressors/dense_rig.hpp"

namespace gradcomp {
namespace int8_block_test {

using namespace dense_test;

index_t formula(const Layout& layout, index_t block) {
  index_t bytes = 0;
  for (const auto& s : layout.segments) bytes += s.count + 4 * ((s.count + block - 1) / block);
  return bytes;
}

/// Calls f(first, last, scale) for every block of elements.
template <class F>
void for_blocks(const Layout& layout, index_t block, const Floats& x, const F& f) {
  for (const auto& s : layout.segments) {
    for (index_t e = 0; e < s.count; e += block) {
      const auto first = static_cast<std::size_t>(s.offset + e);
      const auto last = static_cast<std::size_t>(s.offset + std::min(s.count, e + block));
      float most = 0;
      for (std::size_t i = first; i < last; ++i) most = std::max(most, std::abs(x[i]));
      f(first, last, most / 127.0f);
    }
  }
}

Layout many() {
  return Layout().add("a", {5000}).add("b", {33}).add("c", {1}).add("d", {0}).add("e", {3, 700}).add("f", {256});
}

TEST(Int8Block, RoundsToTheNearestMultipleOfTheBlocksScale) {
  for (const char* block : {"256", "512", "1024", "2048"}) {
    const Layout layout = many();
    const Floats x = normal_values(layout.count(), 4);
    const Floats d = Rig(find_entry("int8_block"), layout, {{"block", block}}).round_trip(x);
    for_blocks(layout, std::stoi(block), x, [&](std::size_t first, std::size_t last, float scale) {
      for (std::size_t i = first; i < last; ++i)
        ASSERT_EQ(d[i], std::nearbyint(x[i] / scale) * scale) << block << " " << i;  // ties to even
    });
    EXPECT_LT(error_share(x, d), 1e-3);
  }
}

TEST(Int8Block, StochasticRoundingTakesANeighbourAndIsUnbiased) {
  const Layout layout = many();
  const Floats x = normal_values(layout.count(), 4);
  const Given given{{"rounding", "stochastic"}};
  const Floats d = Rig(find_entry("int8_block"), layout, given).round_trip(x);
  for_blocks(layout, 256, x, [&](std::size_t first, std::size_t last, float scale) {
    for (std::size_t i = first; i < last; ++i) {
      ASSERT_LT(std::abs(d[i] - x[i]), scale * 1.0001f) << i;
      ASSERT_EQ(d[i], std::nearbyint(d[i] / scale) * scale) << i;
    }
  });
  const int trials = 4096;
  const Floats y(x.begin(), x.begin() + 256);
  Rig rig(find_entry("int8_block"), Layout::flat(256), given);
  std::vector<double> sum(y.size(), 0);
  for (int t = 0; t < trials; ++t) {
    const Floats c = rig.round_trip(y, {11, t, 3, 8});
    for (std::size_t i = 0; i < y.size(); ++i) sum[i] += c[i];
  }
  for_blocks(Layout::flat(256), 256, y, [&](std::size_t, std::size_t, float scale) {
    double squares = 0;
    int counted = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      const double level = std::abs(static_cast<double>(y[i])) / scale, f = level - std::floor(level);
      if (trials * f * (1 - f) < 25) continue;
      const double z = (sum[i] / trials - y[i]) / (scale * std::sqrt(f * (1 - f) / trials));
      EXPECT_LT(std::abs(z), 6) << i;
      squares += z * z;
      ++counted;
    }
    ASSERT_GT(counted, 100);
    EXPECT_LT(std::abs(squares - counted), 6 * std::sqrt(2.0 * counted));
  });
  EXPECT_NE(rig.round_trip(y, {1, 1, 0, 2}), rig.round_trip(y, {1, 1, 1, 2})) << "ranks must not round alike";
}

TEST(Int8Block, BytesMatchTheFormula) {
  for (const char* block : {"256", "2048"}) {
    for (const index_t n : edge_sizes()) {
      const Layout layout = Layout::flat(n);
      Rig rig(find_entry("int8_block"), layout, {{"block", block}});
      const Floats x = normal_values(n, 3);
      const Bytes payload = rig.encode(plain_source(x));
      ASSERT_EQ(static_cast<index_t>(payload.size()), payload_header_bytes + formula(layout, std::stoi(block)));
      ASSERT_EQ(rig.method->payload_bytes(layout, n), formula(layout, std::stoi(block)));
      Floats out(x.size(), 0);
      rig.decode(payload, 1, out);
      for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(out[i], x[i], 0.03) << n << " " << i;
    }
  }
}

TEST(Int8Block, ZerosConstantsHugeAndDenormalValuesStayFinite) {
  const float huge = std::numeric_limits<float>::max(), tiny = std::numeric_limits<float>::denorm_min();
  for (const char* rounding : {"nearest", "stochastic"}) {
    for (const float value : {0.0f, -0.0f, 1.0f, -3e38f, huge, -huge, tiny, 100 * tiny, -1e-40f, 1e-38f}) {
      Floats x(700, value);
      x[300] = -value;
      const Floats d = Rig(find_entry("int8_block"), Layout::flat(700), {{"rounding", rounding}}).round_trip(x);
      for (std::size_t i = 0; i < x.size(); ++i) {
        ASSERT_TRUE(std::isfinite(d[i])) << value;
        ASSERT_LE(std::abs(static_cast<double>(d[i]) - x[i]), std::abs(static_cast<double>(value))) << value;
        if (std::abs(value) > 1e-39f) {
          ASSERT_NEAR(d[i] / x[i], 1, 1e-2) << value;
        }
      }
    }
  }
}

TEST(Int8Block, TelescopesAndTrustsNothing) {
  Layout layout;
  layout.add("a", {300}).add("b", {33}).add("c", {1});
  for (const char* rounding : {"nearest", "stochastic"}) {
    const Given given{{"rounding", rounding}};
    check_telescopes(find_entry("int8_block"), given, layout);
    check_hostile(find_entry("int8_block"), given, layout);
  }
  Rig rig(find_entry("int8_block"), layout);
  const Bytes good = rig.encode(plain_source(normal_values(334, 11)));
  for (const float scale : {NAN, INFINITY, -1.0f, 1e37f}) {
    Bytes bad = good;
    std::memcpy(bad.data() + payload_header_bytes + 4, &scale, 4);
    EXPECT_TRUE(rig.refuses(bad)) << scale;
  }
  Bytes bad = good;
  bad.back() = std::byte{0x80};
  EXPECT_TRUE(rig.refuses(bad)) << "-128";
}

}  // namespace int8_block_test
}  // namespace gradcomp
