// The 8-bit floats against tables made from their definition: unbiased, error bound, nothing lost with feedback, sizes,
// bytes, scales, range.
#include <gtest/gtest.h>

#include <algorithm>

#include "gradcomp/core/registry.hpp"
#include "gradcomp/kernels/quantise/float8.hpp"
#include "unit/compressors/dense_rig.hpp"

namespace gradcomp {
namespace fp8_test {

using namespace dense_test;

/// A format, defined by its sign, exponent and mantissa.
struct Definition {
  int mantissa, bias;
  std::uint32_t most;
  double largest, least;  ///< largest finite value, smallest subnormal value
};
constexpr Definition e4m3{3, 7, 0x7e, 448, 0x1p-9}, e5m2{2, 15, 0x7b, 57344, 0x1p-16};

double value_of(const Definition& d, std::uint32_t code) {
  const int exponent = static_cast<int>((code & 0x7f) >> d.mantissa);
  const double fraction = (code & ((1u << d.mantissa) - 1)) / static_cast<double>(1 << d.mantissa);
  const double size = exponent == 0 ? std::ldexp(fraction, 1 - d.bias) : std::ldexp(1 + fraction, exponent - d.bias);
  return (code & 0x80) != 0 ? -size : size;
}

/// The nearest finite code, found by search; ties go to the even code.
std::uint32_t nearest_of(const Definition& d, double x) {
  std::uint32_t best = 0;
  for (std::uint32_t code = 1; code <= d.most; ++code) {
    const double old = std::abs(value_of(d, best) - std::abs(x)), now = std::abs(value_of(d, code) - std::abs(x));
    if (now < old || (now == old && code % 2 == 0)) best = code;
  }
  return best | (std::signbit(x) ? 0x80u : 0u);
}

/// Every value halfway between two codes, with its neighbours, and some random values.
Floats hard_values(const Definition& d) {
  Floats values{0.0f, -0.0f, std::numeric_limits<float>::denorm_min(), 1e-30f, -1e-38f};
  for (std::uint32_t code = 0; code < d.most; ++code) {
    const auto half = static_cast<float>((value_of(d, code) + value_of(d, code + 1)) / 2);
    for (const float v : {half, std::nextafter(half, 0.0f), std::nextafter(half, 1e9f)}) {
      values.push_back(v);
      values.push_back(-v);
    }
  }
  for (const float v : normal_values(2000, 3, 2)) values.push_back(v * static_cast<float>(d.least));
  for (const float v : normal_values(2000, 4, 50)) values.push_back(v);
  return values;
}

template <class Format>
void check_format(const Definition& d) {
  EXPECT_EQ(Format::decode(Format::max_code), static_cast<float>(d.largest));
  EXPECT_EQ(Format::decode(1), static_cast<float>(d.least));
  for (std::uint32_t code = 0; code < 256; ++code) {
    const float value = Format::decode(code);
    EXPECT_EQ(Format::is_finite(code), (code & 0x7f) <= d.most);
    if ((code & 0x7f) > d.most) {
      EXPECT_FALSE(std::isfinite(value)) << code;
      const std::uint32_t again = Format::nearest(value);
      EXPECT_FALSE(Format::is_finite(again)) << code;
      EXPECT_EQ(again & 0x80u, code & 0x80u) << code;
      continue;
    }
    EXPECT_EQ(value, static_cast<float>(value_of(d, code))) << code;
    EXPECT_EQ(Format::nearest(value), code);
    EXPECT_EQ(std::signbit(value), code >= 128) << code;
    for (const float u : {0.0f, 0.5f, 0x1.fffffep-1f}) EXPECT_EQ(Format::stochastic(value, u), code) << code;
  }
  for (const float v : hard_values(d)) {
    ASSERT_EQ(Format::nearest(v), nearest_of(d, static_cast<double>(v))) << v;
    const std::uint32_t down = Format::stochastic(v, 0x1.fffffep-1f), up = Format::stochastic(v, 0.0f);
    ASSERT_LE(std::abs(Format::decode(down)), std::abs(v)) << v;
    ASSERT_GE(std::abs(Format::decode(up)), std::min(std::abs(v), static_cast<float>(d.largest))) << v;
    ASSERT_LE((up & 0x7f) - (down & 0x7f), 1u) << v;
  }
  for (const float fraction : {0x1p-24f, 0x1p-30f}) {  // one of 2^24 random numbers rounds up
    const float v = static_cast<float>(d.least) * fraction;
    EXPECT_EQ(Format::stochastic(v, 0.0f), 1u) << v;
    EXPECT_EQ(Format::stochastic(v, 0x1p-24f), 0u) << v;
  }
  for (const float v : {1e6f, 3e38f, -1e9f})
    EXPECT_EQ(Format::nearest(v), d.most | (v < 0 ? 0x80u : 0u)) << "it must saturate";
}

TEST(Float8, E4M3IsItsDefinition) {
  check_format<kernels::E4M3>(e4m3);
  EXPECT_TRUE(std::isnan(kernels::E4M3::decode(0x7f)) && std::isnan(kernels::E4M3::decode(0xff)));
}

TEST(Float8, E5M2IsItsDefinition) {
  check_format<kernels::E5M2>(e5m2);
  EXPECT_EQ(kernels::E5M2::decode(0x7c), std::numeric_limits<float>::infinity());
  EXPECT_EQ(kernels::E5M2::decode(0xfc), -std::numeric_limits<float>::infinity());
  for (const std::uint32_t code : {0x7du, 0x7eu, 0x7fu, 0xffu}) EXPECT_TRUE(std::isnan(kernels::E5M2::decode(code)));
}

struct Case {
  Entry entry;
  Definition format;
};
std::vector<Case> cases() { return {{find_entry("fp8_e4m3"), e4m3}, {find_entry("fp8_e5m2"), e5m2}}; }

// The reference computes the scale in double, and searches over all codes.
TEST(Fp8, RoundsEverySegmentToTheNearestScaledCode) {
  Layout layout;
  layout.add("a", {5000}).add("b", {33}).add("c", {1}).add("d", {0}).add("zeros", {70});
  for (const Case& c : cases()) {
    Floats x = normal_values(layout.count(), 4);
    for (std::size_t i = 5000; i < 5033; ++i) x[i] *= 1e-12f;
    for (std::size_t i = 5034; i < x.size(); ++i) x[i] = i % 2 == 0 ? 0.0f : -0.0f;
    const Floats d = Rig(c.entry, layout).round_trip(x);
    for (const auto& segment : layout.segments) {
      double most = 0;
      const auto begin = static_cast<std::size_t>(segment.offset),
                 end = begin + static_cast<std::size_t>(segment.count);
      for (std::size_t i = begin; i < end; ++i) most = std::max(most, std::abs(static_cast<double>(x[i])));
      double scale = 1;
      while (most > 0 && scale * most > c.format.largest) scale /= 2;
      while (most > 0 && 2 * scale * most <= c.format.largest) scale *= 2;
      for (std::size_t i = begin; i < end; ++i) {
        const double expected = value_of(c.format, nearest_of(c.format, scale * x[i])) / scale;
        ASSERT_EQ(d[i], static_cast<float>(expected)) << c.entry.info.name << " " << i;
        if (most == 0) {
          ASSERT_FALSE(std::signbit(d[i]));
        }
      }
    }
  }
}

TEST(Fp8, RelativeErrorIsTheFormatsUnit) {
  for (const Case& c : cases()) {
    const Floats x = normal_values(4096, 5);
    const Floats d = Rig(c.entry, Layout::flat(4096)).round_trip(x);
    const double unit = std::ldexp(1, -c.format.mantissa - 1);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (std::abs(x[i]) > 0.05f) {
        ASSERT_LE(std::abs(d[i] - x[i]), unit * std::abs(x[i])) << i;
      }
    }
    EXPECT_LT(error_share(x, d), unit * unit);
  }
}

TEST(Fp8, BytesMatchTheFormula) {
  for (const Case& c : cases()) {
    for (const index_t n : edge_sizes()) {
      for (const char* rounding : {"nearest", "stochastic"}) {
        Rig rig(c.entry, Layout::flat(n), {{"rounding", rounding}});
        const Floats x = normal_values(n, 3);
        const Bytes payload = rig.encode(plain_source(x));
        ASSERT_EQ(static_cast<index_t>(payload.size()), payload_header_bytes + n + 4);
        ASSERT_EQ(rig.method->payload_bytes(Layout::flat(n), n), n + 4);
        Floats out(x.size(), 0);
        rig.decode(payload, 1, out);
        for (std::size_t i = 0; i < x.size(); ++i)
          ASSERT_LE(std::abs(out[i] - x[i]), 0.26f * std::abs(x[i]) + 1e-3f) << n << " " << i;
      }
    }
    const auto method = c.entry.make(ParameterValues("fp8", c.entry.info.parameters, {}));
    EXPECT_EQ(method->payload_bytes(Layout::flat(11173962), 0), 11173966);  // ResNet-18
  }
}

TEST(Fp8, StochasticRoundingIsUnbiasedWithTheAnalyticVariance) {
  const int trials = 4096;
  for (const Case& c : cases()) {
    const Floats x = normal_values(384, 1);
    Rig rig(c.entry, Layout::flat(384), {{"rounding", "stochastic"}});
    EXPECT_EQ(rig.method->info().property, Info::Property::unbiased);
    std::vector<double> sum(x.size(), 0), low(x.size(), INFINITY), high(x.size(), -INFINITY);
    for (int t = 0; t < trials; ++t) {
      const Floats d = rig.round_trip(x, {11, t, 3, 8});
      for (std::size_t i = 0; i < x.size(); ++i) {
        sum[i] += d[i];
        low[i] = std::min(low[i], static_cast<double>(d[i]));
        high[i] = std::max(high[i], static_cast<double>(d[i]));
      }
    }
    double squares = 0;
    int counted = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (low[i] == high[i]) continue;
      const double f = (x[i] - low[i]) / (high[i] - low[i]);
      ASSERT_TRUE(f > 0 && f < 1) << i;
      if (trials * f * (1 - f) < 25) continue;
      const double z = (sum[i] / trials - x[i]) / ((high[i] - low[i]) * std::sqrt(f * (1 - f) / trials));
      EXPECT_LT(std::abs(z), 6) << i;
      squares += z * z;
      ++counted;
    }
    ASSERT_GT(counted, 100);
    EXPECT_LT(std::abs(squares - counted), 6 * std::sqrt(2.0 * counted));
    const Floats d = rig.round_trip(x, {11, 0, 3, 8});
    EXPECT_NE(d, rig.round_trip(x, {11, 0, 4, 8})) << "ranks must not round alike";
    EXPECT_EQ(d, rig.round_trip(x, {11, 0, 3, 8}));
  }
}

TEST(Fp8, ZerosConstantsHugeAndDenormalValuesStayFinite) {
  const float huge = std::numeric_limits<float>::max(), tiny = std::numeric_limits<float>::denorm_min();
  for (const Case& c : cases()) {
    for (const char* rounding : {"nearest", "stochastic"}) {
      for (const float value : {0.0f, -0.0f, 1.0f, -3e38f, huge, -huge, tiny, -1e-40f, 1e-38f}) {
        Rig rig(c.entry, Layout::flat(700), {{"rounding", rounding}});
        const Floats d = rig.round_trip(Floats(700, value));
        for (const float y : d) {
          ASSERT_TRUE(std::isfinite(y)) << value;
          if (std::abs(value) > 1e-39f) {
            ASSERT_NEAR(y / value, 1, 0.26) << value;
          }
          if (value == 0) {
            ASSERT_TRUE(y == 0 && !std::signbit(y));
          }
        }
      }
    }
  }
}

TEST(Fp8, TelescopesAndTrustsNothing) {
  Layout layout;
  layout.add("a", {300}).add("b", {33}).add("c", {1});
  for (const Case& c : cases()) {
    for (const char* rounding : {"nearest", "stochastic"}) {
      const Given given{{"rounding", rounding}};
      check_telescopes(c.entry, given, layout);
      check_hostile(c.entry, given, layout);
    }
    Rig rig(c.entry, layout);
    const Bytes good = rig.encode(plain_source(normal_values(334, 11)));
    for (const float scale : {NAN, INFINITY, -1.0f, 0.0f, 1.5f, 1e-40f}) {
      Bytes bad = good;
      std::memcpy(bad.data() + payload_header_bytes + 4, &scale, 4);
      EXPECT_TRUE(rig.refuses(bad)) << scale;
    }
    Bytes bad = good;
    bad.back() = std::byte{0x7f};
    EXPECT_TRUE(rig.refuses(bad)) << "NaN";
  }
}

}  // namespace fp8_test
}  // namespace gradcomp
