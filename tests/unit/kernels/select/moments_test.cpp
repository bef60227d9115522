#include "gradcomp/kernels/select/moments.hpp"

#include <gtest/gtest.h>

#include "copies.hpp"
#include "unit/sparse_inputs.hpp"

namespace gradcomp::kernels {
namespace moments_test {

using namespace sparse_test;
using test::to_device;

/// The documented order as a serial loop: 32 float lanes go down the rows of a tile; the lanes are summed by halving;
/// then tiles that are 32 apart are added in double; and these sums are summed by halving.
template <class T>
T halve(std::vector<T> x) {
  for (std::size_t half = 16; half > 0; half /= 2)
    for (std::size_t l = 0; l < half; ++l) x[l] += x[l + half];
  return x[0];
}
double ordered_sum_abs(const std::vector<float>& a, index_t first, index_t n) {
  std::vector<double> lanes(32);
  for (index_t t = 0; t * tile_size < n; ++t) {
    std::vector<float> row(32);
    for (index_t i = t * tile_size; i < std::min(n, (t + 1) * tile_size); ++i)
      row[static_cast<std::size_t>(i % 32)] += std::fabs(a[static_cast<std::size_t>(first + i)]);
    lanes[static_cast<std::size_t>(t % 32)] += static_cast<double>(halve(row));
  }
  return halve(lanes);
}

TEST(Moments, MatchSerialReferenceBitForBitWithAndWithoutResidual) {
  for (const index_t n : {0, 1, 2, 31, 33, 4095, 4096, 4097, 300001}) {
    const Layout layout = mixed_layout(n);
    const auto count = layout.count();
    const Tiles tiles(layout);
    for (const auto& name : input_names()) {
      SCOPED_TRACE(name + " n=" + std::to_string(n));
      auto g = make_input(name, count, 1);
      auto r = make_input("gauss", count, 2);
      for (const bool residual : {false, true}) {
        const auto device_g = to_device(g), device_r = to_device(r);
        Source source;
        source.count = count;
        source.gradient = device_g.data();
        if (residual) {
          source.kind = Source::Kind::residual;
          source.memory = device_r.data();
          source.beta = 0.5f;
          source.gamma = 2;
        }
        FirstPass pass(tiles, Statistics::sums);
        pass.run(Exec(), tiles, source);
        const auto memory = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, device_r);
        std::vector<float> a(g);
        if (residual) {
          for (std::size_t i = 0; i < a.size(); ++i) a[i] = 0.5f * r[i] + 2.0f * g[i];
          ASSERT_EQ(first_difference(std::vector<float>(memory.data(), memory.data() + count), a), -1);
        }
        for (std::size_t s = 0; s < layout.segments.size(); ++s) {
          const auto& segment = layout.segments[s];
          const auto& m = pass.moments()[s];
          index_t nonzeros = 0;
          std::int32_t most = 0;
          double squares = 0;
          for (index_t i = segment.offset; i < segment.offset + segment.count; ++i) {
            const float x = a[static_cast<std::size_t>(i)];
            nonzeros += x != 0 ? 1 : 0;
            most = std::max(most, bits_of(x));
            squares += static_cast<double>(x * x);
          }
          ASSERT_EQ(m.nonzeros, nonzeros);
          ASSERT_EQ(m.max_bits, most);
          ASSERT_EQ(m.non_finite, 0);
          ASSERT_EQ(m.sum_abs, ordered_sum_abs(a, segment.offset, segment.count));
          if (std::isfinite(squares)) {
            ASSERT_NEAR(m.sum_squares, squares, 1e-5 * squares);
          }
        }
      }
    }
  }
}

TEST(Moments, StatisticsThatAreNotAskedForChangeNoOther) {
  const index_t n = 9001;
  const auto g = to_device(make_input("laplace", n)), r = to_device(make_input("gauss", n, 2));
  const Tiles tiles(Layout::flat(n));
  for (const auto kind : {Source::Kind::none, Source::Kind::residual}) {
    const Source source{kind, n, g.data(), r.data(), 1, 0};  // the memory stays as it is
    FirstPass whole(tiles, Statistics::logs);
    whole.run(Exec(), tiles, source);
    const Moments& all = whole.moments()[0];
    EXPECT_NE(all.sum_logs, 0);
    for (const Statistics wanted : {Statistics::largest, Statistics::magnitudes, Statistics::sums}) {
      FirstPass pass(tiles, wanted);
      pass.run(Exec(), tiles, source);
      const Moments& m = pass.moments()[0];
      EXPECT_EQ(m.nonzeros, all.nonzeros);
      EXPECT_EQ(m.max_bits, all.max_bits);
      EXPECT_EQ(m.sum_abs, wanted >= Statistics::magnitudes ? all.sum_abs : 0);
      EXPECT_EQ(m.sum_squares, wanted >= Statistics::magnitudes ? all.sum_squares : 0);
      EXPECT_EQ(m.sum, wanted >= Statistics::sums ? all.sum : 0);
      EXPECT_EQ(m.sum_logs, 0);
    }
  }
}

TEST(Moments, NonFiniteGradientLeavesItsMemoryAndIsCounted) {
  const index_t n = 9000;
  auto g = make_input("gauss", n);
  const std::vector<float> r = make_input("gauss", n, 2);
  const float inf = std::numeric_limits<float>::infinity();
  g[0] = inf, g[4099] = -inf, g[8999] = std::numeric_limits<float>::quiet_NaN();
  const Tiles tiles(Layout::flat(n));
  const auto device_g = to_device(g), device_r = to_device(r);
  Source source;
  source.count = n;
  source.kind = Source::Kind::residual;
  source.gradient = device_g.data();
  source.memory = device_r.data();
  FirstPass pass(tiles, Statistics::sums);
  pass.run(Exec(), tiles, source);
  EXPECT_EQ(pass.non_finite(), 3);
  const auto memory = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, device_r);
  for (const std::size_t i : {0u, 4099u, 8999u}) EXPECT_TRUE(same_bits(memory(i), r[i]));
  EXPECT_TRUE(same_bits(memory(1), r[1] + g[1]));
  EXPECT_TRUE(std::isfinite(pass.moments()[0].sum_abs));
}

TEST(Moments, SumWhichOverflowsTheMemoryCountsAsNonFinite) {
  const auto g = to_device<float>({3e38f, 1.0f}), r = to_device<float>({3e38f, 1.0f});
  const Tiles tiles(Layout::flat(2));
  Source source{Source::Kind::residual, 2, g.data(), r.data(), 1, 1};
  FirstPass pass(tiles, Statistics::sums);
  pass.run(Exec(), tiles, source);
  EXPECT_EQ(pass.non_finite(), 1);
  const auto memory = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, r);
  EXPECT_EQ(memory(0), 3e38f);
  EXPECT_EQ(memory(1), 2.0f);
}

TEST(Moments, SampleHoldsElementsOfEachTile) {
  const index_t n = 3 * tile_size + 7;
  std::vector<float> g;
  for (index_t i = 0; i < n; ++i) g.push_back(static_cast<float>(i));
  const auto device = to_device(g);
  const Tiles tiles(Layout::flat(n));
  FirstPass pass(tiles, Statistics::sums);
  pass.run(Exec(), tiles, Source{Source::Kind::none, n, device.data(), nullptr, 1, 1});
  const auto sample = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, pass.sample());
  for (index_t t = 0; t < 4; ++t) {
    const auto row = sample_row(t, static_cast<std::int32_t>(std::min<index_t>(tile_size, n - t * tile_size)));
    EXPECT_EQ(row.size, t < 3 ? 32 : 7);
    for (index_t l = 0; l < row.size; ++l)
      EXPECT_EQ(sample(static_cast<std::size_t>(t * 32 + l)), static_cast<float>(t * tile_size + row.first + l));
  }
}

}  // namespace moments_test
}  // namespace gradcomp::kernels
