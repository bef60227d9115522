// Count sketch against a serial reference, bit for bit with any number of threads; linear, unbiased, of the variance
// that the theory gives; finds planted heavy hitters.
#include "gradcomp/kernels/sketch/count_sketch.hpp"

#include <gtest/gtest.h>

#include "copies.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/kernels/random/random_subset.hpp"
#include "unit/sparse_inputs.hpp"

namespace gradcomp::kernels {
namespace count_sketch_test {

using Floats = std::vector<float>;
using test::to_device;
using test::to_host;

struct Sketched {
  Floats table, estimates;
};

Sketched sketch_of(CountSketch& sketch, const Floats& x, std::uint64_t seed) {
  const Exec exec;
  const Vector<float> in = to_device(x), out("estimates", x.size()),
                      table("table", static_cast<std::size_t>(sketch.table_size()));
  sketch.hash(exec, seed, 3);
  sketch.sketch(exec, in.data(), table);
  sketch.estimate(exec, table, out);
  exec.fence();
  return {to_host(table), to_host(out)};
}

/// The definition, element by element.
Sketched reference(const Floats& x, int rows, index_t columns, std::uint64_t seed) {
  Sketched s{Floats(static_cast<std::size_t>(rows * columns)), {}};
  std::vector<Floats> all(x.size());
  const auto cell = [&](int row, std::size_t i) {
    const Array4 bits = threefry4x32_12(
        stream_key(seed, 3, 0, every_rank),
        stream_counter(static_cast<index_t>(i / 32), random_stream::sketch, static_cast<unsigned>(row)));
    const index_t ring = random_below(bits.x0, bits.x1, columns / 32);
    const auto within = (i + bits.x2) % 32;
    const auto place = static_cast<std::size_t>(row * columns + 32 * ring) + within;
    return std::pair{place, (bits.x3 >> within & 1u) != 0 ? -1.0f : 1.0f};
  };
  for (int row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto [place, sign] = cell(row, i);
      s.table[place] += sign * x[i];
    }
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (int row = 0; row < rows; ++row) {
      const auto [place, sign] = cell(row, i);
      all[i].push_back(sign * s.table[place]);
    }
    std::sort(all[i].begin(), all[i].end());
    s.estimates.push_back(all[i][static_cast<std::size_t>(rows / 2)]);
  }
  return s;
}

TEST(CountSketch, IsTheDefinitionBitForBit) {
  for (const index_t n : {0, 1, 31, 32, 33, 1000, 4097, 100003}) {
    for (const int rows : {1, 3, 5, 7, 9}) {
      for (const index_t columns : {32, 64, 3200}) {
        SCOPED_TRACE(testing::Message() << "n " << n << " rows " << rows << " columns " << columns);
        CountSketch sketch(n, rows, columns);
        const Floats x = sparse_test::make_input("gauss", n, 5);
        const Sketched got = sketch_of(sketch, x, 7), expected = reference(x, rows, columns, 7);
        ASSERT_EQ(got.table, expected.table);
        ASSERT_EQ(got.estimates, expected.estimates);
      }
    }
  }
}

TEST(CountSketch, IsLinear) {
  const index_t n = 20011;
  CountSketch sketch(n, 5, 640);
  const Floats a = sparse_test::make_input("levels", n, 1), b = sparse_test::make_input("levels", n, 2);
  Floats both(a);
  for (std::size_t i = 0; i < both.size(); ++i) both[i] += b[i];
  Floats sum = sketch_of(sketch, a, 9).table;
  const Floats other = sketch_of(sketch, b, 9).table;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += other[i];
  EXPECT_EQ(sketch_of(sketch, both, 9).table, sum);
  EXPECT_NE(sketch_of(sketch, both, 10).table, sum) << "another seed has other places";
}

// x of other blocks meets with probability 1 / columns, with a random sign; of the own block never
TEST(CountSketch, EstimatesAreUnbiasedWithTheVarianceOfTheTheory) {
  const index_t n = 192, columns = 64;
  const int seeds = 20000;
  CountSketch sketch(n, 1, columns);
  const Floats x = sparse_test::make_input("gauss", n);
  std::vector<double> mean(x.size()), square(x.size());
  for (int s = 0; s < seeds; ++s) {
    const Floats e = sketch_of(sketch, x, static_cast<std::uint64_t>(s)).estimates;
    for (std::size_t i = 0; i < e.size(); ++i) {
      const double error = static_cast<double>(e[i]) - x[i];
      mean[i] += error / seeds;
      square[i] += error * error / seeds;
    }
  }
  double all = 0, found = 0, expected = 0, chi = 0;
  for (const float v : x) all += static_cast<double>(v) * v;
  for (std::size_t i = 0; i < x.size(); ++i) {
    double block = 0;
    for (std::size_t j = i / 32 * 32; j < i / 32 * 32 + 32; ++j) block += static_cast<double>(x[j]) * x[j];
    const double variance = (all - block) / columns;
    const double z = mean[i] / std::sqrt(variance / seeds);
    EXPECT_LT(std::fabs(z), 6) << i;
    EXPECT_NEAR(square[i], variance, 0.15 * variance) << i;
    chi += z * z;
    found += square[i];
    expected += variance;
  }
  EXPECT_NEAR(found, expected, 0.01 * expected);
  EXPECT_LT(chi, 192 + 6 * std::sqrt(2 * 192.0));
}

TEST(CountSketch, FindsPlantedHeavyHitters) {
  const index_t n = 200000, columns = 20000, heavy = 20;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    Floats x = sparse_test::make_input("gauss", n, static_cast<std::uint32_t>(seed));
    std::vector<std::uint32_t> planted;
    for (index_t h = 0; h < heavy; ++h) planted.push_back(static_cast<std::uint32_t>(h * 9973 + 7));
    // with them ||x||^2 = n + heavy v^2, v = 9 ||x|| / sqrt(columns)
    const double v = std::sqrt(81.0 * n / columns / (1 - 81.0 * heavy / columns)) * 1.01;
    for (std::size_t h = 0; h < planted.size(); ++h) x[planted[h]] = static_cast<float>(h % 2 == 0 ? v : -v);
    CountSketch sketch(n, 5, columns / 32 * 32);
    const Floats estimates = sketch_of(sketch, x, seed).estimates;
    EXPECT_EQ(sparse_test::top_k_indices(estimates, 0, n, heavy), planted) << "recall below 1";
  }
}

TEST(CountSketch, RefusesWrongShapes) {
  EXPECT_THROW(CountSketch(100, 4, 64), Error);
  EXPECT_THROW(CountSketch(100, 11, 64), Error);
  EXPECT_THROW(CountSketch(100, 5, 33), Error);
  EXPECT_THROW(CountSketch(100, 5, 0), Error);
}

}  // namespace count_sketch_test
}  // namespace gradcomp::kernels
