// The Walsh-Hadamard transform against its definition, and the rotation of a layout: its signs, its inverse, its
// statistics.
#include "gradcomp/kernels/sketch/hadamard.hpp"

#include <gtest/gtest.h>

#include <bit>

#include "copies.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/kernels/random/threefry.hpp"
#include "unit/sparse_inputs.hpp"

namespace gradcomp::kernels {
namespace hadamard_test {

using Floats = std::vector<float>;
using sparse_test::make_input;
using test::to_device;
using test::to_host;

/// Rotation::rotate() of a source without a memory. Returns whether an element that is not finite was noted.
bool rotate(const Rotation& rotation, const Vector<float>& gradient, std::uint64_t seed, std::int64_t step) {
  Source source;
  source.count = static_cast<index_t>(gradient.size());
  source.gradient = gradient.data();
  const Vector<std::uint32_t> noted("gradcomp::tests::noted", 1);
  rotation.rotate(Exec(), source, seed, step, {noted.data()});
  return to_host(noted)[0] == PayloadHeader::flag_diverged;
}

/// Every `count` elements of x transformed.
Floats transformed(const Floats& x, index_t count) {
  const Vector<float> device = to_device(x);
  const Exec exec;
  for_warps(
      "gradcomp::tests::hadamard", exec, static_cast<index_t>(x.size()) / count,
      KOKKOS_LAMBDA(const Warp& warp, index_t b) { walsh_hadamard(warp, device.data() + b * count, count); });
  exec.fence();
  return to_host(device);
}

// entry (i, j) of H is -1 to the number of bits that i and j share; integers: every sum is exact
TEST(Hadamard, IsTheDefinition) {
  for (const index_t count : {32, 64, 256, 1024, 2048}) {
    const Floats x = make_input("levels", count);
    const Floats y = transformed(x, count);
    for (std::size_t i = 0; i < y.size(); i += count > 256 ? 13 : 1) {
      double sum = 0;
      for (std::size_t j = 0; j < x.size(); ++j) sum += std::popcount(i & j) % 2 == 0 ? x[j] : -x[j];
      ASSERT_EQ(y[i], sum) << count << " element " << i;
    }
  }
}

TEST(Hadamard, IsOrthonormal) {
  for (index_t count = 32; count <= 8192; count *= 2) {
    const Floats x = make_input("levels", 3 * count, 2);
    Floats y = transformed(x, count);
    double before = 0, after = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      before += static_cast<double>(x[i]) * x[i];
      after += static_cast<double>(y[i]) * y[i];
    }
    EXPECT_EQ(after, before * static_cast<double>(count));
    y = transformed(y, count);
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], static_cast<float>(count) * x[i]);
  }
}

TEST(Rotation, IsHadamardOfSignsThatFollowFromSeedStepAndElement) {
  Layout layout;
  layout.add("a", {0}).add("b", {1500}).add("c", {1});
  layout.segments[1].id = 77;
  Rotation rotation(layout, 1024);
  const Floats a = make_input("gauss", layout.count());
  const Vector<float> gradient = to_device(a);
  EXPECT_FALSE(rotate(rotation, gradient, 5, 9));
  ASSERT_EQ(rotation.work().size(), 1024u + 512 + 32);
  const Floats work = to_host(rotation.work());
  const auto stats = to_host(rotation.stats());
  const Array4 key = stream_key(5, 77, 9, every_rank);
  Floats signed_a(1024);
  for (std::size_t i = 0; i < 1024; ++i) {
    const auto row = static_cast<index_t>(i / 32);
    const Array4 bits = threefry4x32_12(key, stream_counter(row / 4 * 128, random_stream::rotation, 0));
    const std::uint32_t words[] = {bits.x0, bits.x1, bits.x2, bits.x3};
    signed_a[i] = (words[row % 4] >> (i % 32) & 1u) != 0 ? -a[i] : a[i];
  }
  double sum = 0, squares = 0, most = 0, norm = 0;
  for (std::size_t i = 0; i < 1024; ++i) {
    double y = 0;
    for (std::size_t j = 0; j < 1024; ++j) y += std::popcount(i & j) % 2 == 0 ? signed_a[j] : -signed_a[j];
    y /= 32;
    ASSERT_NEAR(work[i] * stats[0].unit, y, 1e-5) << i;
    sum += std::fabs(y);
    squares += y * y;
    most = std::max(most, std::fabs(y));
    norm += static_cast<double>(a[i]) * a[i];
  }
  const double unit = stats[0].unit;
  EXPECT_NEAR(stats[0].sum_abs * unit, sum, 1e-5 * sum);
  EXPECT_NEAR(stats[0].sum_squares * unit * unit, squares, 1e-5 * squares);
  EXPECT_NEAR(squares, norm, 1e-9 * norm);
  EXPECT_NEAR(stats[0].most * unit, most, 1e-5);
  EXPECT_EQ(stats[2].largest, std::fabs(a[1500]));
}

TEST(Rotation, ComesBackFromEverySizeAndMagnitude) {
  for (const index_t n : {0, 1, 31, 32, 33, 1000, 4097, 30001}) {
    for (const char* input : {"gauss", "denormal", "huge", "zeros", "one_nonzero"}) {
      const Layout layout = sparse_test::mixed_layout(n);
      Rotation rotation(layout, 1024);
      const Floats a = make_input(input, layout.count());
      const Vector<float> gradient = to_device(a), out("out", a.size());
      const Exec exec;
      ASSERT_FALSE(rotate(rotation, gradient, 1, 2));
      rotation.rotate_back(exec, 1, 2);
      std::vector<float> scales;
      const auto stats = to_host(rotation.stats());
      const auto groups = to_host(rotation.groups());
      for (std::size_t b = 0; b < stats.size(); ++b)
        scales.push_back(static_cast<float>(stats[b].unit / std::sqrt(static_cast<double>(groups[b].padded))));
      rotation.add(exec, to_device(scales).data(), 1, Admission(), out);
      exec.fence();
      const Floats back = to_host(out);
      for (std::size_t b = 0; b < groups.size(); ++b) {
        for (std::size_t i = 0; i < static_cast<std::size_t>(groups[b].count); ++i) {
          const auto at = static_cast<std::size_t>(groups[b].first) + i;
          // the scale of denormals is one, of few bits
          const double tolerance = input[0] == 'd' ? 0.3 : 2e-6;
          ASSERT_NEAR(back[at], a[at], tolerance * stats[b].largest) << input << " " << n << " element " << at;
        }
      }
    }
  }
}

TEST(Rotation, OtherStepsAndSegmentsHaveOtherSigns) {
  Layout layout;
  layout.add("a", {1024}).add("b", {1024});
  const Vector<float> gradient = to_device(Floats(2048, 1));
  Rotation rotation(layout, 1024);
  const auto rotated = [&](std::uint64_t seed, std::int64_t step) {
    EXPECT_FALSE(rotate(rotation, gradient, seed, step));
    return to_host(rotation.work());
  };
  const Floats y = rotated(1, 1);
  EXPECT_EQ(y, rotated(1, 1));
  EXPECT_NE(y, rotated(1, 2));
  EXPECT_NE(y, rotated(2, 1));
  EXPECT_NE(Floats(y.begin(), y.begin() + 1024), Floats(y.begin() + 1024, y.end()));
}

TEST(Rotation, NotesWhatIsNotFiniteAndRefusesWrongLengths) {
  const Rotation rotation(Layout::flat(5000), 2048);
  for (const std::size_t at : {0, 2048, 4999}) {
    Floats a = make_input("gauss", 5000);
    a[at] = at == 0 ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
    EXPECT_TRUE(rotate(rotation, to_device(a), 1, 1)) << at;
    for (const RotatedStats& stats : to_host(rotation.stats())) EXPECT_TRUE(std::isfinite(stats.sum_squares)) << at;
  }
  for (const index_t length : {0, 16, 48, 16384}) EXPECT_THROW(Rotation(Layout::flat(10), length), Error);
}

}  // namespace hadamard_test
}  // namespace gradcomp::kernels
