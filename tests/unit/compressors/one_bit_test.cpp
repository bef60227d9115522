// 1-bit SGD against a plain serial reference by columns: identities, bytes, what travels as it is.
#include <algorithm>
#include <set>

#include "gradcomp/core/registry.hpp"
#include "unit/compressors/dense_rig.hpp"

namespace gradcomp {
namespace one_bit_test {

using namespace dense_test;

/// Matrices with short columns, long columns and columns of several pieces, and tensors that are sent uncompressed.
Layout many() {
  Layout layout;
  layout.add("conv", {3, 3, 5, 16})
      .add("bias", {16})
      .add("long", {3, 9000})
      .add("narrow", {50, 3})
      .add("empty", {0, 7});
  return layout.add("scalar", {}).add("fc", {40, 33}).add("block", {2, 1024}).add("last", {5000});
}

bool travels_raw(const Segment& s) { return s.shape.size() < 2 || s.shape.back() <= 3; }

/// Calls f(first, last) for every column, whose elements have equal indices except for the last one.
template <class F>
void for_columns(const Layout& layout, const F& f) {
  for (const auto& s : layout.segments) {
    if (travels_raw(s)) continue;
    for (index_t e = 0; e < s.count; e += s.shape.back())
      f(static_cast<std::size_t>(s.offset + e), static_cast<std::size_t>(s.offset + e + s.shape.back()));
  }
}

class OneBit : public testing::TestWithParam<std::string> {
 protected:
  Rig rig(const Layout& layout) const { return {find_entry("one_bit"), layout, {{"threshold", GetParam()}}}; }
  bool mean = GetParam() == "mean";
};
INSTANTIATE_TEST_SUITE_P(Thresholds, OneBit, testing::Values("zero", "mean"),
                         [](const auto& row) { return row.param; });

TEST_P(OneBit, DecodesToTheMeansOfBothClassesOfEveryColumn) {
  const Layout layout = many();
  Floats x = normal_values(layout.count(), 4);
  for (std::size_t i = 16; i < 32; ++i) x[i] = std::abs(x[i]);  // a column without negative elements
  const Floats d = rig(layout).round_trip(x);
  for_columns(layout, [&](std::size_t first, std::size_t last) {
    const double count = static_cast<double>(last - first);
    double threshold = 0, below = 0, above = 0, under = 0;
    for (std::size_t i = first; mean && i < last; ++i) threshold += x[i] / count;
    for (std::size_t i = first; i < last; ++i) {
      (x[i] < threshold ? below : above) += x[i];
      under += x[i] < threshold;
    }
    for (std::size_t i = first; i < last; ++i)
      ASSERT_NEAR(d[i], x[i] < threshold ? below / under : above / (count - under), 1e-6) << i;
  });
  for (const auto& s : layout.segments) {
    for (index_t i = s.offset; travels_raw(s) && i < s.offset + s.count; ++i)
      ASSERT_EQ(d[static_cast<std::size_t>(i)], x[static_cast<std::size_t>(i)]) << s.name;
  }
}

TEST_P(OneBit, ResidualsOfAColumnAddUpToZero) {
  const Layout layout = many();
  const Floats x = normal_values(layout.count(), 5);
  Floats memory(x.size(), 0.0f);
  rig(layout).encode(residual_source(x, memory));
  for_columns(layout, [&](std::size_t first, std::size_t last) {
    double sum = 0, size = 0;
    for (std::size_t i = first; i < last; ++i) {
      sum += memory[i];
      size += std::abs(static_cast<double>(memory[i]));
    }
    ASSERT_GT(size, 0);
    ASSERT_LE(std::abs(sum), 1e-6 * size) << first;
  });
}

TEST_P(OneBit, ColumnsOfTwoValuesAreExact) {
  const Layout layout = many();
  Floats x = normal_values(layout.count(), 6), memory(x.size(), 0.0f);
  for_columns(layout, [&](std::size_t first, std::size_t last) {
    const float low = -std::abs(x[first]), high = std::abs(x[first + 1]);
    for (std::size_t i = first; i < last; ++i) x[i] = x[i] < 0 ? low : high;
  });
  rig(layout).encode(residual_source(x, memory));
  EXPECT_EQ(memory, Floats(x.size(), 0.0f));
}

// The mean of neighbouring floats rounds to one of them.
TEST(OneBitMean, TwoValuesOfOneSignAreExact) {
  const Layout layout = Layout().add("a", {6, 1500});
  const float tiny = std::numeric_limits<float>::denorm_min(), huge = std::numeric_limits<float>::max();
  for (const auto& [low, high] : std::vector<std::pair<float, float>>{{1, 1.25f},
                                                                      {-3, -2.5f},
                                                                      {1, std::nextafter(1.0f, 2.0f)},
                                                                      {-1, std::nextafter(-1.0f, 0.0f)},
                                                                      {0, tiny},
                                                                      {-tiny, 0},
                                                                      {std::nextafter(huge, 0.0f), huge},
                                                                      {-huge, huge},
                                                                      {0, 1}}) {
    for (const int often : {1, 2, 749, 1499}) {
      Floats x(static_cast<std::size_t>(layout.count()), low);
      for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<int>((i + 7 * (i / 1500)) % 1500) < often ? high : low;
      EXPECT_EQ(Rig(find_entry("one_bit"), layout, {{"threshold", "mean"}}).round_trip(x), x) << low << " " << often;
    }
  }
}

TEST(OneBitMean, ContractsColumnsWithALargeMean) {
  const Layout layout = Layout().add("a", {20, 500});
  Floats x = normal_values(10000, 7);
  for (float& v : x) v += 3;
  const auto error = [&](const std::string& threshold) {
    return error_share(x, Rig(find_entry("one_bit"), layout, {{"threshold", threshold}}).round_trip(x));
  };
  EXPECT_LT(error("mean"), 0.5 * error("zero"));
  for (float& v : x) v -= 3;  // 1 - 2 / pi of normal values, by either
  EXPECT_NEAR(error("mean"), 1 - 2 / M_PI, 0.02);
  EXPECT_NEAR(error("zero"), 1 - 2 / M_PI, 0.02);
}

TEST_P(OneBit, ContractsAtLeastAsOneCommonMagnitudeWould) {
  Layout layout;
  layout.add("a", {20, 500});
  Floats x = normal_values(10000, 7);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += 0.3f;
  const Floats d = rig(layout).round_trip(x);
  Floats common(x.size());
  for_columns(layout, [&](std::size_t first, std::size_t last) {
    double sum = 0;
    for (std::size_t i = first; i < last; ++i) sum += std::abs(static_cast<double>(x[i]));
    for (std::size_t i = first; i < last; ++i)
      common[i] = static_cast<float>(std::copysign(sum / static_cast<double>(last - first), x[i]));
  });
  EXPECT_LT(error_share(x, d), error_share(x, common));
}

TEST_P(OneBit, BytesMatchTheFormula) {
  for (const index_t n : edge_sizes()) {
    Layout layout;
    layout.add("two", {2, n}).add("vector", {n});
    Rig own = rig(layout);
    const Floats x = normal_values(layout.count(), 3);
    const Bytes payload = own.encode(plain_source(x));
    const index_t column = n <= 3 ? 4 * n : 4 * ((n + 31) / 32) + 8;
    ASSERT_EQ(static_cast<index_t>(payload.size()), payload_header_bytes + 2 * column + 4 * n);
    Floats out(x.size(), 0);
    own.decode(payload, 1, out);
    for (std::size_t i = 0; !mean && i < x.size(); ++i) ASSERT_EQ(out[i] < 0, x[i] < 0) << n << " " << i;
  }
  // ResNet-20: 86,700 bytes
  Layout net;
  net.add("stem", {3, 3, 3, 16});
  for (int i = 0; i < 6; ++i) net.add("16", {3, 3, 16, 16});
  net.add("16_32", {3, 3, 16, 32});
  for (int i = 0; i < 5; ++i) net.add("32", {3, 3, 32, 32});
  net.add("32_64", {3, 3, 32, 64});
  for (int i = 0; i < 5; ++i) net.add("64", {3, 3, 64, 64});
  net.add("fc", {64, 10}).add("norms and bias", {1386});
  EXPECT_EQ(net.count(), 269722);
  EXPECT_EQ(rig(net).method->payload_bytes(net, 0), 86700);
}

TEST_P(OneBit, ZerosConstantsHugeAndDenormalValuesAreExact) {
  const float huge = std::numeric_limits<float>::max(), tiny = std::numeric_limits<float>::denorm_min();
  for (const float value : {0.0f, -0.0f, 1.0f, -2.5f, tiny, -1e-40f, 1e30f, -3e38f, huge}) {
    const Layout layout = many();
    const Floats x(static_cast<std::size_t>(layout.count()), value);
    EXPECT_EQ(rig(layout).round_trip(x), x) << value;
  }
}

TEST_P(OneBit, TelescopesAndTrustsNothing) {
  Layout layout;
  layout.add("a", {3, 130}).add("b", {33}).add("c", {2, 3});
  const Given given{{"threshold", GetParam()}};
  check_telescopes(find_entry("one_bit"), given, layout);
  check_hostile(find_entry("one_bit"), given, layout);
  Rig own = rig(layout);
  const Bytes good = own.encode(plain_source(normal_values(layout.count(), 11)));
  const auto set = [&](std::size_t word, float value) {
    Bytes bad = good;
    std::memcpy(bad.data() + payload_header_bytes + 4 * word, &value, 4);
    return bad;
  };
  for (const float level : {NAN, -INFINITY, 9.0f}) EXPECT_TRUE(own.refuses(set(0, level))) << "lower " << level;
  for (const float level : {NAN, INFINITY, -9.0f}) EXPECT_TRUE(own.refuses(set(1, level))) << "upper " << level;
  EXPECT_EQ(own.refuses(set(0, 1e-3f)), !mean) << "both levels above zero";
  EXPECT_TRUE(own.refuses(set(6, NAN))) << "raw";
  Bytes bad = good;
  bad.back() = std::byte{0x80};
  EXPECT_TRUE(own.refuses(bad)) << "a bit behind the last element";
}

}  // namespace one_bit_test
}  // namespace gradcomp
