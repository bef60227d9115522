// QSGD against a plain serial reference of the format: unbiased with the analytic variance, nothing lost with error
// feedback, sizes, bytes, hostile payloads.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "decoding.hpp"
#include "gradcomp/core/registry.hpp"

namespace gradcomp {
namespace qsgd_test {

using Floats = std::vector<float>;
using Given = std::map<std::string, std::string>;

Span<float> span(Floats& v) { return Span<float>(v.data(), v.size()); }

Source residual_source(const Floats& gradient, Floats& memory) {
  return {Source::Kind::residual, static_cast<index_t>(gradient.size()), gradient.data(), memory.data(), 1, 1};
}
Source plain_source(const Floats& gradient) {
  return {Source::Kind::none, static_cast<index_t>(gradient.size()), gradient.data(), nullptr, 1, 1};
}

/// One rank of QSGD. It needs device memory that is host memory.
struct Harness {
  explicit Harness(const Layout& layout, const Given& given = {})
      : entry(find_entry("qsgd")),
        method(entry.make(ParameterValues("qsgd", entry.info.parameters, given))),
        state(method->prepare(layout)) {}

  std::vector<std::byte> encode(const Source& source, const Context& context = {}) {
    const Message message = method->produce(Exec(), 0, {source, {}, context, {}}, *state);
    Exec().fence();
    return {message.payload.data(), message.payload.data() + message.size};
  }
  void decode(const std::vector<std::byte>& payload, float weight, Floats& out) {
    test::decode_add(*method, Exec(), Span<const std::byte>(payload.data(), payload.size()), weight, *state, span(out));
  }
  Floats round_trip(const Floats& gradient, const Context& context = {}) {
    Floats out(gradient.size(), 0);
    decode(encode(plain_source(gradient), context), 1, out);
    return out;
  }

  Entry entry;
  std::unique_ptr<Compressor> method;
  std::unique_ptr<State> state;
};

Floats normal_values(index_t n, unsigned seed, float scale = 1) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  Floats values(static_cast<std::size_t>(n));
  for (float& v : values) v = scale * normal(engine);
  return values;
}

float norm_of(const Floats& x, std::size_t first, std::size_t last, bool max) {
  double sum = 0, most = 0;
  for (std::size_t i = first; i < last; ++i) {
    sum += static_cast<double>(x[i]) * x[i];
    most = std::max(most, std::abs(static_cast<double>(x[i])));
  }
  return static_cast<float>(max ? most : std::sqrt(sum));
}

/// N trials; every mean within 6 standard errors, and their squares sum as those of normal variables do.
void expect_unbiased(const Floats& x, int levels, const Given& given, float norm) {
  const int trials = 4096;
  Harness qsgd(Layout::flat(static_cast<index_t>(x.size())), given);
  std::vector<double> sum(x.size(), 0);
  for (int t = 0; t < trials; ++t) {
    const Floats d = qsgd.round_trip(x, {11, t, 3, 8});
    for (std::size_t i = 0; i < x.size(); ++i) sum[i] += d[i];
  }
  double squares = 0;
  int counted = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double step = static_cast<double>(norm) / levels, level = std::abs(x[i]) / step;
    const double f = level - std::floor(level);
    if (trials * f * (1 - f) < 25) continue;  // there are too few events for a normal approximation
    const double z = (sum[i] / trials - x[i]) / (step * std::sqrt(f * (1 - f) / trials));
    EXPECT_LT(std::abs(z), 6) << i;
    squares += z * z;
    ++counted;
  }
  ASSERT_GT(counted, 100);
  EXPECT_LT(std::abs(squares - counted), 6 * std::sqrt(2.0 * counted));
}

TEST(Qsgd, IsUnbiasedWithTheAnalyticVariance) {
  const Floats x = normal_values(512, 1);
  expect_unbiased(x, 7, {}, norm_of(x, 0, 512, false));
  expect_unbiased(x, 1, {{"bits", "2"}}, norm_of(x, 0, 512, false));
  expect_unbiased(x, 127, {{"bits", "8"}}, norm_of(x, 0, 512, false));
  expect_unbiased(x, 20, {{"levels", "20"}, {"norm", "max"}}, norm_of(x, 0, 512, true));
}

// With 16 random bits, x / step = 2^-18 would never be rounded up. With more bits, it is rounded up once in 2^18.
TEST(Qsgd, IsUnbiasedFarBelowSixteenBits) {
  const index_t n = index_t{1} << 22;
  Floats x(static_cast<std::size_t>(n), 7 * 0x1p-18f);
  for (std::size_t i = 0; i < x.size(); i += 8192) x[i] = 49;  // norm of the group: max = 49 = 7 levels of 7
  Harness qsgd(Layout::flat(n), {{"group", "8192"}, {"norm", "max"}});
  double ups = 0, trials = 0;
  for (int t = 0; t < 4; ++t) {
    const Floats d = qsgd.round_trip(x, {5, t, 0, 1});
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (i % 8192 != 0) ups += d[i] != 0;
    }
    trials += static_cast<double>(n) * 8191 / 8192;
  }
  const double expected = trials * 0x1p-18;
  EXPECT_GT(expected, 60);
  EXPECT_NEAR(ups, expected, 6 * std::sqrt(expected));
}

TEST(Qsgd, BytesMatchTheFormulaForManySegmentsAndSizes) {
  // ResNet-18 and ResNet-20 as one vector each, 4 bits, groups of 512
  const Entry entry = find_entry("qsgd");
  const auto method = entry.make(ParameterValues("qsgd", entry.info.parameters, {}));
  EXPECT_EQ(method->payload_bytes(Layout::flat(11173962), 0), 5674281);
  EXPECT_EQ(method->payload_bytes(Layout::flat(269722), 0), 136969);
  for (const char* bits : {"2", "4", "8"}) {
    for (const index_t n : {0, 1, 31, 32, 33, 127, 128, 511, 513, 4095, 4096, 4097, 100003}) {
      Layout layout;
      layout.add("a", {n}).add("b", {7, 3}).add("c", {1025});
      Harness qsgd(layout, {{"bits", bits}});
      const Floats x = normal_values(layout.count(), 3);
      const auto payload = qsgd.encode(plain_source(x));
      EXPECT_EQ(static_cast<index_t>(payload.size()), qsgd.method->payload_bytes(layout, 0) + payload_header_bytes);
      EXPECT_EQ(static_cast<index_t>(payload.size()), qsgd.method->payload_capacity(layout));
    }
  }
}

// Every decoded value is one of the two levels around its element, of its group's own norm, whatever the cut.
TEST(Qsgd, RoundsToANeighbouringLevelOfItsGroup) {
  for (const char* levels : {"1", "2", "3", "7", "12", "25", "50", "127"}) {
    for (const char* group : {"64", "512", "4096"}) {
      Layout layout;
      layout.add("a", {5000}).add("b", {33}).add("c", {1}).add("d", {0}).add("e", {70000});
      Harness qsgd(layout, {{"levels", levels}, {"group", group}});
      const Floats x = normal_values(layout.count(), 4);
      const Floats d = qsgd.round_trip(x);
      const auto size = static_cast<std::size_t>(std::stoi(group));
      for (const auto& segment : layout.segments) {
        for (std::size_t b = 0; b < static_cast<std::size_t>(segment.count); b += size) {
          const auto first = static_cast<std::size_t>(segment.offset) + b;
          const auto last = std::min(first + size, static_cast<std::size_t>(segment.offset + segment.count));
          const float step = norm_of(x, first, last, false) / static_cast<float>(std::stoi(levels));
          for (std::size_t i = first; i < last; ++i) {
            ASSERT_LT(std::abs(d[i] - x[i]), step * 1.00001f) << levels << " " << group << " " << i;
            const float q = d[i] / step;
            ASSERT_NEAR(q, std::round(q), 1e-4f);
          }
        }
      }
    }
  }
}

TEST(Qsgd, TelescopesWithAResidual) {
  for (const index_t n : {1, 33, 5000}) {
    Harness qsgd(Layout::flat(n), {{"bits", "8"}});
    Floats memory(static_cast<std::size_t>(n), 0), received(memory), total(memory);
    for (int step = 0; step < 20; ++step) {
      const Floats g = normal_values(n, static_cast<unsigned>(step));
      for (std::size_t i = 0; i < g.size(); ++i) total[i] += g[i];
      const auto payload = qsgd.encode(residual_source(g, memory), {1, step, 0, 1});
      qsgd.decode(payload, 1, received);
    }
    for (std::size_t i = 0; i < total.size(); ++i) ASSERT_NEAR(received[i] + memory[i], total[i], 1e-4) << i;
  }
}

TEST(Qsgd, ZerosConstantsHugeAndDenormalValues) {
  const float huge = std::numeric_limits<float>::max(), tiny = std::numeric_limits<float>::denorm_min();
  for (const float value : {0.0f, -0.0f, 1.0f, -3e38f, huge, tiny, -1e-40f, 1e-30f}) {
    for (const char* norm : {"l2", "max"}) {
      Harness qsgd(Layout::flat(700), {{"norm", norm}});
      const Floats x(700, value);
      const Floats d = qsgd.round_trip(x);
      for (const float y : d) {
        ASSERT_TRUE(std::isfinite(y));
        if (value == 0) {
          ASSERT_EQ(std::signbit(y), false);
          ASSERT_EQ(y, 0.0f);
        }
        if (norm[0] == 'm' && std::abs(value) >= 1) {
          ASSERT_NEAR(y / value, 1, 2e-6);
        }
      }
    }
  }
  Harness qsgd(Layout::flat(600));  // one element has the whole norm: its level is s, not s + 1
  Floats x(600, 0);
  x[77] = -0.3f;
  EXPECT_FLOAT_EQ(qsgd.round_trip(x)[77], -0.3f);
}

TEST(Qsgd, KeysDependOnRankStepAndSegment) {
  Layout layout;
  layout.add("a", {4096}).add("b", {4096});
  Harness qsgd(layout);
  Floats x = normal_values(4096, 8);
  x.insert(x.end(), x.begin(), x.end());
  const auto base = qsgd.round_trip(x, {1, 1, 0, 2});
  EXPECT_EQ(base, qsgd.round_trip(x, {1, 1, 0, 2}));
  EXPECT_NE(base, qsgd.round_trip(x, {1, 1, 1, 2}));
  EXPECT_NE(base, qsgd.round_trip(x, {1, 2, 0, 2}));
  EXPECT_NE(Floats(base.begin(), base.begin() + 4096), Floats(base.begin() + 4096, base.end()));
}

TEST(Qsgd, RefusesHostilePayloads) {
  Layout layout;
  layout.add("a", {1000}).add("b", {3});
  Harness qsgd(layout);
  const auto good = qsgd.encode(plain_source(normal_values(1003, 11)));
  Floats out(1003, 0);
  for (std::size_t size = 0; size < good.size(); size += 7) {
    EXPECT_THROW(qsgd.decode({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)}, 1, out), Error);
  }
  auto longer = good;
  longer.push_back(std::byte{0});
  EXPECT_THROW(qsgd.decode(longer, 1, out), Error);
  for (const float norm : {NAN, INFINITY, -1.0f}) {
    auto bad = good;
    std::memcpy(bad.data() + payload_header_bytes + 4, &norm, 4);
    EXPECT_THROW(qsgd.decode(bad, 1, out), Error);
  }
  for (const std::size_t at : {static_cast<std::size_t>(payload_header_bytes) + 12, good.size() - 2}) {
    auto bad = good;
    bad[at] = std::byte{0xff};  // code 15 of 0..14, in a word and in a tail
    EXPECT_THROW(qsgd.decode(bad, 1, out), Error);
  }
  auto kept = good;
  kept[16] ^= std::byte{1};
  EXPECT_THROW(qsgd.decode(kept, 1, out), Error);
  EXPECT_NO_THROW(qsgd.decode(good, 1, out));
}

// With w = min(n / 4 s^2, sqrt(n) / s) and a memory, all values are divided by 1 + w, so that every step is a
// contraction.
TEST(Qsgd, ScaledByTheVarianceItIsAContraction) {
  const index_t n = 2048;
  const Floats gradient = normal_values(n, 7);
  const double norm = norm_of(gradient, 0, gradient.size(), false);
  Harness harness(Layout::flat(n), {{"bits", "2"}});
  double error = 0;
  constexpr int trials = 50;
  Floats plain(gradient.size(), 0), scaled(gradient.size(), 0);
  for (int t = 0; t < trials; ++t) {
    Floats memory(gradient.size(), 0);
    const Context context{.seed = 3, .step = t, .rank = 0, .ranks = 1};
    const auto payload = harness.encode(residual_source(gradient, memory), context);
    const double left = norm_of(memory, 0, memory.size(), false) / norm;
    error += left * left / trials;
    if (t > 0) continue;
    harness.decode(payload, 1, scaled);
    harness.decode(harness.encode(plain_source(gradient), context), 1, plain);
  }
  const double w = std::sqrt(512.0);
  EXPECT_LT(error, w / (1 + w));
  EXPECT_GT(error, 0.5) << "a single level is coarse";
  for (std::size_t i = 0; i < gradient.size(); ++i)
    ASSERT_NEAR(scaled[i], plain[i] / (1 + w), 1e-5 * std::abs(plain[i])) << "the same codes";
}

TEST(Qsgd, RefusesAFeedbackThatMayDiverge) {
  const Floats gradient = normal_values(2048, 7);
  Floats memory(gradient.size(), 0);
  Harness coarse(Layout::flat(2048), {{"bits", "2"}, {"scale", "none"}});
  EXPECT_THROW(coarse.encode(residual_source(gradient, memory)), Error);
  Harness fine(Layout::flat(2048), {{"bits", "8"}, {"scale", "none"}});
  EXPECT_NO_THROW(fine.encode(residual_source(gradient, memory)));
}

}  // namespace qsgd_test
}  // namespace gradcomp
