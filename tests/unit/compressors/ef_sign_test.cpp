// EF-signSGD: the mean magnitude, its contraction, the layout of the bits, and the scale that is not always a
// contraction.
#include <algorithm>

#include "gradcomp/core/registry.hpp"
#include "unit/compressors/dense_rig.hpp"

namespace gradcomp {
namespace ef_sign_test {

using namespace dense_test;

Layout many() {
  return Layout().add("a", {5000}).add("b", {33}).add("c", {1}).add("d", {0}).add("e", {3, 700}).add("f", {1024});
}

/// The bit of element i of a run of n elements whose words start at `words`, as kernels/pack/signs.hpp describes it.
bool bit_of(const Bytes& payload, std::size_t words, std::size_t n, std::size_t i) {
  const bool vertical = i < n / 1024 * 1024;
  const std::size_t word = vertical ? i / 1024 * 32 + i % 32 : i / 32, bit = vertical ? i % 1024 / 32 : i % 32;
  std::uint32_t value = 0;
  std::memcpy(&value, payload.data() + words + 4 * word, 4);
  return ((value >> bit) & 1u) != 0;
}

TEST(EfSign, SendsTheSignAndTheMeanMagnitudeOfEveryTensor) {
  const Layout layout = many();
  const Floats x = normal_values(layout.count(), 4);
  Rig rig(find_entry("ef_sign"), layout);
  const Bytes payload = rig.encode(plain_source(x));
  Floats d(x.size(), 0);
  rig.decode(payload, 1, d);
  std::size_t words = static_cast<std::size_t>(payload_header_bytes) + 4 * layout.segments.size();
  for (const auto& s : layout.segments) {
    const auto n = static_cast<std::size_t>(s.count), first = static_cast<std::size_t>(s.offset);
    double sum = 0;
    for (std::size_t i = first; i < first + n; ++i) sum += std::abs(static_cast<double>(x[i]));
    for (std::size_t i = first; i < first + n; ++i) {
      ASSERT_EQ(bit_of(payload, words, n, i - first), x[i] < 0) << i;
      ASSERT_NEAR(d[i], std::copysign(sum / static_cast<double>(n), x[i]), 1e-5) << i;
      ASSERT_EQ(std::abs(d[i]), std::abs(d[first])) << i;
    }
    words += 4 * ((n + 31) / 32);
  }
  EXPECT_EQ(words, payload.size());
}

TEST(EfSign, BytesMatchTheFormula) {
  for (const index_t n : edge_sizes()) {
    Rig rig(find_entry("ef_sign"), Layout::flat(n));
    const Floats x = normal_values(n, 3);
    const Bytes payload = rig.encode(plain_source(x));
    ASSERT_EQ(static_cast<index_t>(payload.size()), payload_header_bytes + 4 * ((n + 31) / 32) + 4);
    Floats out(x.size(), 0);
    rig.decode(payload, 1, out);
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(out[i] < 0, x[i] < 0) << n << " " << i;
  }
  const auto method = find_entry("ef_sign").make(ParameterValues("ef_sign", find_entry("ef_sign").info.parameters, {}));
  EXPECT_EQ(method->payload_bytes(Layout::flat(11173962), 0), 1396752);  // ResNet-18, then ResNet-20
  EXPECT_EQ(method->payload_bytes(Layout::flat(269722), 0), 33720);
}

// delta = ||a||_1^2 / (n ||a||_2^2): 2 / pi for normal values, 1 / n for a single one
TEST(EfSign, ContractsByDelta) {
  Rig rig(find_entry("ef_sign"), Layout::flat(10000));
  const Floats x = normal_values(10000, 6);
  double sum = 0;
  for (const float v : x) sum += std::abs(static_cast<double>(v));
  const double delta = sum * sum / (10000 * squared(x));
  EXPECT_NEAR(error_share(x, rig.round_trip(x)), 1 - delta, 1e-5);
  EXPECT_NEAR(delta, 2 / M_PI, 0.02);
  Floats one(10000, 0.0f);
  one[77] = -3;
  EXPECT_NEAR(error_share(one, rig.round_trip(one)), 1 - 1e-4, 1e-6);
}

// With s = ||a||_2 / sqrt(n), the error ratio 2 (1 - ||a||_1 / (sqrt(n) ||a||_2)) exceeds 1 if few elements are large.
TEST(EfSignL2, IsNotAlwaysAContraction) {
  Rig rig(find_entry("ef_sign"), Layout::flat(10000), {{"scale", "l2"}});
  EXPECT_EQ(rig.method->info().property, Info::Property::biased);
  Floats one(10000, 0.0f);
  one[77] = -3;
  const Floats decoded = rig.round_trip(one);
  EXPECT_NEAR(error_share(one, decoded), 1.98, 1e-4);
  for (std::size_t i = 0; i < one.size(); ++i) ASSERT_FLOAT_EQ(decoded[i], i == 77 ? -0.03f : 0.03f);
  const Floats x = normal_values(10000, 6);
  double sum = 0;
  for (const float v : x) sum += std::abs(static_cast<double>(v));
  EXPECT_NEAR(error_share(x, rig.round_trip(x)), 2 * (1 - sum / (100 * std::sqrt(squared(x)))), 1e-4);
}

TEST(EfSignL2, ScalesEveryTensorWithinTheRangeOfItsSquares) {
  const Layout layout = many();
  const Floats normal = normal_values(layout.count(), 4);
  for (const float size : {1.0f, 1e-14f, 1e16f, 1e-30f, 1e-41f, 1e30f}) {
    Floats x = normal;
    for (float& v : x) v *= size;
    const Floats d = Rig(find_entry("ef_sign"), layout, {{"scale", "l2"}}).round_trip(x);
    for (const auto& segment : layout.segments) {
      double squares = 0, sum = 0;
      const auto first = static_cast<std::size_t>(segment.offset),
                 last = first + static_cast<std::size_t>(segment.count);
      for (std::size_t i = first; i < last; ++i) {
        squares += static_cast<double>(x[i]) * x[i];
        sum += std::abs(static_cast<double>(x[i]));
      }
      const double n = static_cast<double>(segment.count), l2 = std::sqrt(squares / n), l1 = sum / n;
      const double expected = size > 1e-15f && size < 1e17f ? l2 : l1;
      for (std::size_t i = first; i < last; ++i)
        ASSERT_NEAR(d[i], x[i] < 0 ? -expected : expected, 1e-5 * expected + 1e-45) << size << " " << i;
    }
  }
}

TEST(EfSignL2, TelescopesAndTrustsNothing) {
  const Layout layout = Layout().add("a", {1300}).add("b", {33}).add("c", {1});
  const Given given{{"scale", "l2"}};
  check_telescopes(find_entry("ef_sign"), given, layout);
  check_hostile(find_entry("ef_sign"), given, layout);
}

TEST(EfSign, ConstantsAreExactAndOddValuesStayFinite) {
  const float huge = std::numeric_limits<float>::max(), tiny = std::numeric_limits<float>::denorm_min();
  for (const float value : {0.0f, -0.0f, 1.0f, -2.5f, tiny, -1e-40f, 1e30f, -3e38f, huge}) {
    Rig rig(find_entry("ef_sign"), Layout::flat(6000));
    Floats x(6000, value), memory(6000, 0.0f), out(6000, 0.0f);
    x[5000] = -value;
    rig.decode(rig.encode(residual_source(x, memory)), 1, out);
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_TRUE(std::isfinite(out[i]) && std::isfinite(memory[i])) << value;
      ASSERT_LE(std::abs(static_cast<double>(out[i])), std::abs(static_cast<double>(value)) * 1.00001) << value;
      if (value == 0) {
        ASSERT_TRUE(out[i] == 0 && !std::signbit(out[i]));
      } else if (std::abs(value) < 1e30f) {
        ASSERT_FLOAT_EQ(out[i], x[i]);
      }
    }
  }
  Rig rig(find_entry("ef_sign"), Layout::flat(3));
  EXPECT_EQ(rig.round_trip({-0.0f, 2, -4}), (Floats{2, 2, -2})) << "-0 counts as +";
}

TEST(EfSign, ScaleIsSmallerWhereTheSumOfATileOverflows) {
  for (const float value : {8e34f, 9e34f}) {
    const float expected = value == 8e34f ? value : value / 4096;
    const Floats d = Rig(find_entry("ef_sign"), Layout::flat(4096)).round_trip(Floats(4096, value));
    for (const float v : d) ASSERT_NEAR(v / expected, 1, 1e-5) << value;
  }
}

TEST(EfSign, TelescopesAndTrustsNothing) {
  Layout layout;
  layout.add("a", {1300}).add("b", {33}).add("c", {1});
  check_telescopes(find_entry("ef_sign"), {}, layout);
  check_hostile(find_entry("ef_sign"), {}, layout);
  Rig rig(find_entry("ef_sign"), layout);
  const Bytes good = rig.encode(plain_source(normal_values(1334, 11)));
  for (const float scale : {NAN, INFINITY, -1.0f}) {
    Bytes bad = good;
    std::memcpy(bad.data() + payload_header_bytes + 4, &scale, 4);
    EXPECT_TRUE(rig.refuses(bad)) << scale;
  }
  Bytes bad = good;
  bad.back() = std::byte{0x80};
  EXPECT_TRUE(rig.refuses(bad)) << "a bit behind the last element";
}

}  // namespace ef_sign_test
}  // namespace gradcomp
