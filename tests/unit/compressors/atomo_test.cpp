// Spectral ATOMO on matrices with known singular vectors: mean and variance, number of terms, exactness, bytes, and
// refusal of payloads that no sender writes. An independent bisection is the reference for the probabilities.
#include <algorithm>

#include "gradcomp/compressors/detail/low_rank/spectrum.hpp"
#include "gradcomp/core/registry.hpp"
#include "unit/compressors/dense_rig.hpp"

namespace dense_test {
namespace atomo_test {

Rig atomo(const Layout& layout, int rank) { return Rig(find_entry("atomo"), layout, {{"rank", std::to_string(rank)}}); }

Layout one(std::vector<index_t> shape) { return Layout{}.add("m", std::move(shape)); }

/// Element i of column k of the discrete cosine transform of size n, which has orthonormal columns.
double cosine(index_t n, std::size_t k, index_t i) {
  return std::sqrt((k == 0 ? 1.0 : 2.0) / static_cast<double>(n)) *
         std::cos(M_PI * (static_cast<double>(i) + 0.5) * static_cast<double>(k) / static_cast<double>(n));
}

Floats with_singular_values(index_t rows, index_t columns, const std::vector<double>& values) {
  Floats m;
  for (index_t i = 0; i < rows; ++i) {
    for (index_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < values.size(); ++k) sum += values[k] * cosine(rows, k, i) * cosine(columns, k, j);
      m.push_back(static_cast<float>(sum));
    }
  }
  return m;
}

/// p_i = min(1, c l_i) with the sum `budget`, where c is found by bisection.
std::vector<double> probabilities_of(const std::vector<double>& values, double budget) {
  double low = 0, high = 1e30;
  std::vector<double> p(values.size());
  for (int step = 0; step < 400; ++step) {
    const double c = low == 0 ? high / 2 : std::sqrt(low * high);
    double sum = 0;
    for (std::size_t i = 0; i < p.size(); ++i) sum += p[i] = std::min(1.0, c * values[i]);
    (sum < budget ? low : high) = c;
    if (low == 0 && high < 1e-30) break;
  }
  return p;
}

double distance(const Floats& x, const Floats& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += std::pow(static_cast<double>(x[i]) - y[i], 2);
  return std::sqrt(sum);
}

double norm(const Floats& x) { return distance(x, Floats(x.size(), 0)); }

index_t kept(const Bytes& payload) {
  PayloadHeader head;
  std::memcpy(&head, payload.data(), sizeof head);
  return static_cast<index_t>(head.kept);
}

TEST(Atomo, WaterFillingIsTheLeastVariance) {
  std::vector<double> p;
  for (const auto& values : std::vector<std::vector<double>>{{5, 3, 1},
                                                             {1, 1, 1, 1},
                                                             {100, 10, 1, 0.1, 0.01},
                                                             {4, 0, 0},
                                                             {2},
                                                             {3, 3, 1e-9},
                                                             {9, 8, 7, 0.5, 0.25, 0.25}}) {
    double positive = 0;
    for (const double v : values) positive += v > 0 ? 1 : 0;
    for (int budget = 1; budget <= 6; ++budget) {
      compressors::water_filling(values, budget, p);
      const auto expected = probabilities_of(values, std::min<double>(budget, positive));
      double sum = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        EXPECT_NEAR(p[i], budget < positive ? expected[i] : values[i] > 0 ? 1 : 0, 1e-9) << budget << " " << i;
        sum += p[i];
      }
      EXPECT_NEAR(sum, std::min<double>(budget, positive), 1e-9);
    }
  }
  compressors::water_filling({}, 3, p);
  EXPECT_TRUE(p.empty());
  compressors::water_filling({0, 0}, 3, p);
  EXPECT_EQ(p, (std::vector<double>{0, 0}));
}

TEST(Atomo, MatricesAreThoseOfTheAuthors) {
  const auto shape = [](std::vector<index_t> extents) {
    const auto m = compressors::spectral_shape(one(std::move(extents)).segments[0]);
    return std::pair(m.rows, m.columns);
  };
  EXPECT_EQ(shape({3, 3, 64, 128}), std::pair(index_t{18}, index_t{4096}));
  EXPECT_EQ(shape({3, 3, 3, 5}), std::pair(index_t{9}, index_t{15}));
  EXPECT_EQ(shape({1, 1, 64, 128}), std::pair(index_t{64}, index_t{128}));
  EXPECT_EQ(shape({512, 10}), std::pair(index_t{512}, index_t{10}));
  EXPECT_EQ(shape({100}), std::pair(index_t{50}, index_t{2}));
  for (const auto& none : std::vector<std::vector<index_t>>{{101}, {0}, {}, {0, 5}}) {
    EXPECT_EQ(shape(none), std::pair(index_t{0}, index_t{0}));
  }
}

/// Makes 4096 steps with a matrix of these singular values. Checks the mean number of terms, and the mean and the
/// variance of every element.
void check_moments(index_t rows, index_t columns, const std::vector<double>& values, int rank) {
  constexpr int trials = 4096;
  const auto p = probabilities_of(values, rank);
  const Floats m = with_singular_values(rows, columns, values);
  Rig rig = atomo(one({rows, columns}), rank);
  std::vector<double> sum(m.size());
  double terms = 0, error = 0;
  for (int t = 0; t < trials; ++t) {
    const Bytes payload = rig.encode(plain_source(m), {7, t, 0, 1});
    Floats out(m.size(), 0);
    rig.decode(payload, 1, out);
    for (std::size_t i = 0; i < m.size(); ++i) sum[i] += static_cast<double>(out[i]) - m[i];
    error += std::pow(distance(out, m), 2) / trials;
    terms += static_cast<double>(kept(payload)) / trials;
  }
  double spread = 0, expected_error = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    spread += p[k] * (1 - p[k]);
    expected_error += values[k] * values[k] * (1 / p[k] - 1);
  }
  EXPECT_LT(std::fabs(terms - rank), 6 * std::sqrt(spread / trials));
  EXPECT_NEAR(error, expected_error, 0.06 * expected_error);
  for (index_t i = 0; i < rows * columns; ++i) {
    double variance = 0;
    for (std::size_t k = 0; k < values.size(); ++k) {
      const double cell = values[k] * cosine(rows, k, i / columns) * cosine(columns, k, i % columns);
      variance += cell * cell * (1 / p[k] - 1);
    }
    EXPECT_LT(std::fabs(sum[static_cast<std::size_t>(i)]), 6 * std::sqrt(variance * trials) + trials * 1e-6) << i;
  }
}

TEST(Atomo, HasItsMeanAndItsVariance) {
  const std::vector<double> decaying = {8, 4, 2, 2, 1, 0.5, 0.25, 0.125};  // p = 1 for the first
  check_moments(12, 30, decaying, 3);
  check_moments(30, 12, decaying, 3);
  check_moments(20, 8, {1.3, 1.2, 1.1, 1, 0.9, 0.8}, 1);  // many steps draw nothing
}

TEST(Atomo, EnoughTermsAreExact) {
  struct Case {
    std::vector<index_t> shape;
    index_t rows, columns;  ///< of the matrix that the method sees
    std::vector<double> values;
    int rank;
  };
  for (const Case& c :
       {Case{{40, 30}, 40, 30, {3, 2}, 3}, Case{{30, 40}, 30, 40, {3, 2, 2}, 3},
        Case{{3, 3, 8, 16}, 18, 64, {1, 0.1, 1e-3, 1e-4}, 4}, Case{{1500, 9}, 1500, 9, {1, 1}, 2},
        Case{{9, 5000}, 9, 5000, {1, 1}, 2}, Case{{200}, 100, 2, {5}, 1}, Case{{100, 130}, 100, 130, {2}, 2}}) {
    const Floats unit = with_singular_values(c.rows, c.columns, c.values);
    for (const float scale : {1.0f, 1e-30f, 1e30f}) {
      Floats m = unit;
      for (float& v : m) v *= scale;
      Rig rig = atomo(one(c.shape), c.rank);
      const Floats out = rig.round_trip(m);
      EXPECT_LT(distance(out, m), 1e-6 * norm(m)) << c.rows << " x " << c.columns << " " << scale;
    }
  }
}

TEST(Atomo, ZerosSendNoTerm) {
  Layout layout;
  layout.add("m", {40, 30}).add("v", {5});
  Rig rig = atomo(layout, 3);
  Floats zeros(1205, 0);
  const Bytes payload = rig.encode(plain_source(zeros));
  EXPECT_EQ(payload.size(), 32u + 4 + 20);
  EXPECT_EQ(kept(payload), 5);
  Floats out(1205, 0);
  rig.decode(payload, 1, out);
  EXPECT_EQ(out, zeros);
}

TEST(Atomo, BytesFollowTheTermsAndRawTensors) {
  Layout layout;
  layout.add("m", {40, 30}).add("odd", {7}).add("long", {513, 520}).add("f", {3, 3, 8, 16}).add("thin", {5, 4});
  const Floats m = normal_values(layout.count(), 3);
  Rig rig = atomo(layout, 2);
  const index_t raw = 7 + 513 * 520 + 20;
  for (int step = 0; step < 20; ++step) {
    const Bytes payload = rig.encode(plain_source(m), {1, step, 0, 1});
    std::uint32_t count[2];
    std::memcpy(count, payload.data() + 32, 8);
    EXPECT_EQ(static_cast<index_t>(payload.size()), 32 + 4 * (2 + raw + count[0] * 71 + count[1] * (1 + 18 + 64)));
    EXPECT_EQ(kept(payload), raw + count[0] + count[1]);
    EXPECT_LE(static_cast<index_t>(payload.size()) - 32, rig.method->payload_bytes(layout, 0));
    Floats out(m.size(), 0);
    rig.decode(payload, 1, out);
    for (std::size_t i = 1200; i < 1207 + 513 * 520; ++i) ASSERT_EQ(out[i], m[i]);
  }
  EXPECT_EQ(rig.method->payload_bytes(layout, 0), 4 * (2 + raw + 30 * 71 + 18 * 83));
}

TEST(Atomo, RanksDrawTermsOfTheirOwn) {
  const Floats m = normal_values(1200, 4);
  Rig rig = atomo(one({40, 30}), 3);
  const Bytes first = rig.encode(plain_source(m), {1, 0, 0, 4});
  EXPECT_EQ(rig.encode(plain_source(m), {1, 0, 0, 4}), first);
  EXPECT_NE(rig.encode(plain_source(m), {1, 0, 1, 4}), first);
  EXPECT_NE(rig.encode(plain_source(m), {1, 1, 0, 4}), first);
  EXPECT_NE(rig.encode(plain_source(m), {2, 0, 0, 4}), first);
}

TEST(Atomo, RefusesWhatNoSenderWrites) {
  const Floats m = with_singular_values(40, 30, {3, 2});
  Rig rig = atomo(one({40, 30}), 3);
  const Bytes good = rig.encode(plain_source(m));
  ASSERT_EQ(good.size(), 32u + 4 * (1 + 2 * 71));
  EXPECT_FALSE(rig.refuses(good));
  for (const std::uint32_t count : {0u, 1u, 3u, 31u, 0xffffffffu}) {
    Bytes bad = good;
    std::memcpy(bad.data() + 32, &count, 4);
    EXPECT_TRUE(rig.refuses(bad)) << count;
  }
  const float nan = NAN;
  for (const std::size_t at : {36u, 300u}) {
    Bytes bad = good;
    std::memcpy(bad.data() + at, &nan, 4);
    EXPECT_TRUE(rig.refuses(bad));
  }
}

// The elements are finite, but the largest singular value does not fit into a float.
TEST(Atomo, FlagsATermThatOverflows) {
  Rig rig = atomo(one({40, 30}), 3);
  EXPECT_EQ(rig.encode(plain_source(Floats(1200, 3e38f))).size(), 32u);
}

}  // namespace atomo_test
}  // namespace dense_test
