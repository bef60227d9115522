// The rotation of a layout against plain loops, bit by bit, and against the definition of the Hadamard matrix; its
// signs, its inverse, its statistics.
#include "gradcomp/kernels/sketch/hadamard.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "copies.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/kernels/random/threefry.hpp"
#include "same_bits.hpp"
#include "unit/sparse_inputs.hpp"

namespace gradcomp::kernels {
namespace hadamard_test {

using Floats = std::vector<float>;
using sparse_test::make_input;
using test::same_bits;
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

/// What rotate() and rotate_back() shall leave of one group, by plain loops: in the order of the indices, and sums by
/// 32 lanes that are added in halves.
struct Plain {
  Floats y;
  RotatedStats stats{};
};

/// x with the signs of a group.
Floats with_signs(Floats x, const RotatedGroup& group, std::uint64_t seed, std::int64_t step) {
  const Array4 key = stream_key(seed, group.segment_id, step, every_rank);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto element = group.element + static_cast<index_t>(i / 128 * 128);
    const Array4 bits = threefry4x32_12(key, stream_counter(element, random_stream::rotation, 0));
    const std::uint32_t words[] = {bits.x0, bits.x1, bits.x2, bits.x3};
    if ((words[i / 32 % 4] >> (i % 32) & 1u) != 0) x[i] = -x[i];
  }
  return x;
}

Floats transformed(Floats x) {
  for (std::size_t half = 1; half < x.size(); half *= 2) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      if ((i & half) != 0) continue;
      const float low = x[i], high = x[i + half];
      x[i] = low + high;
      x[i + half] = low - high;
    }
  }
  return x;
}

// entry (i, j) of H is -1 to the number of bits that i and j share; integers: every sum is exact
TEST(Hadamard, PlainLoopsAreTheDefinition) {
  for (const index_t count : {32, 256, 2048}) {
    const Floats x = make_input("levels", count), y = transformed(x);
    for (std::size_t i = 0; i < y.size(); i += count > 256 ? 13 : 1) {
      double sum = 0;
      for (std::size_t j = 0; j < x.size(); ++j) sum += std::popcount(i & j) % 2 == 0 ? x[j] : -x[j];
      ASSERT_EQ(y[i], sum) << count << " element " << i;
    }
  }
}

float halved(Floats lanes) {
  for (std::size_t half = lanes.size() / 2; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  }
  return lanes[0];
}

/// a: the elements of the group.
Plain plain(Floats a, const RotatedGroup& group, std::uint64_t seed, std::int64_t step) {
  Plain all;
  for (const float x : a) all.stats.largest = std::max(all.stats.largest, std::fabs(x));
  const int exponent = all.stats.largest == 0 ? -200 : std::ilogb(all.stats.largest);  // of a power of two below
  const float factor = std::ldexp(1.0f, std::clamp(-exponent, -126, 126));
  a.resize(static_cast<std::size_t>(group.padded));
  all.y = with_signs(std::move(a), group, seed, step);
  for (float& x : all.y) x *= factor;
  all.y = transformed(std::move(all.y));
  Floats sums(32), squares(32);
  for (std::size_t i = 0; i < all.y.size(); ++i) {
    all.stats.most = std::max(all.stats.most, std::fabs(all.y[i]));
    sums[i % 32] += std::fabs(all.y[i]);
    squares[i % 32] += all.y[i] * all.y[i];
  }
  all.stats.sum_abs = halved(sums);
  all.stats.sum_squares = halved(squares);
  all.stats.unit = 1 / (static_cast<double>(factor) * std::sqrt(static_cast<double>(group.padded)));
  return all;
}

/// Segments whose last groups have all sizes, for groups of `length`.
Layout groups_of_all_sizes(index_t length) {
  Layout layout;
  for (const index_t count : {1, 2, 31, 32, 33, 64, 127, 1000, 1024, 1025, 4095, 4096, 4097, 8192})
    if (count <= length) layout.add("last", {count});
  layout.add("empty", {0}).add("two", {length, 2}).add("three", {2 * length + length / 2 + 1});
  return layout;
}

class RotationOf : public testing::TestWithParam<int> {};

TEST_P(RotationOf, HasTheBitsOfPlainLoops) {
  const index_t length = GetParam();
  const Layout layout = groups_of_all_sizes(length);
  const Rotation rotation(layout, length);
  const auto groups = to_host(rotation.groups());
  for (const char* input : {"gauss", "huge", "denormal", "sparse"}) {
    const Floats a = make_input(input, layout.count());
    ASSERT_FALSE(rotate(rotation, to_device(a), 3, 8));
    const Floats work = to_host(rotation.work());
    const auto stats = to_host(rotation.stats());
    rotation.rotate_back(Exec(), 4, 9);
    const Floats back = to_host(rotation.work());
    for (std::size_t b = 0; b < groups.size(); ++b) {
      const RotatedGroup& group = groups[b];
      const auto of_group = [&](const Floats& x) { return Floats(&x[group.work], &x[group.work] + group.padded); };
      const Plain expected = plain(Floats(&a[group.first], &a[group.first] + group.count), group, 3, 8);
      ASSERT_TRUE(same_bits(of_group(work), expected.y)) << input << ", group of " << group.count;
      ASSERT_TRUE(same_bits(of_group(back), with_signs(transformed(expected.y), group, 4, 9)))
          << input << ", group of " << group.count;
      EXPECT_EQ(stats[b].largest, expected.stats.largest);
      EXPECT_EQ(stats[b].most, expected.stats.most);
      EXPECT_EQ(stats[b].sum_abs, expected.stats.sum_abs);
      EXPECT_EQ(stats[b].sum_squares, expected.stats.sum_squares);
      EXPECT_EQ(stats[b].unit, expected.stats.unit);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Lengths, RotationOf, testing::Values(32, 64, 512, 1024, 2048, 4096, 8192));

TEST(Rotation, RotatesTheSumWithAMemory) {
  const Layout layout = groups_of_all_sizes(2048);
  const Rotation rotation(layout, 2048);
  const Floats g = make_input("gauss", layout.count()), r = make_input("laplace", layout.count(), 2);
  const Vector<float> gradient = to_device(g), memory = to_device(r), velocity = to_device(r);
  for (const auto kind : {Source::Kind::residual, Source::Kind::momentum_correction}) {
    const bool moves = kind == Source::Kind::momentum_correction;
    Floats a = to_host(memory), u = to_host(velocity);
    Source source;
    source.kind = kind;
    source.count = layout.count();
    source.gamma = 0.5f;
    source.momentum = moves ? 0.9f : 0.0f;
    Source device = source, host = source;
    device.gradient = gradient.data(), device.memory = memory.data();
    host.gradient = g.data(), host.memory = a.data();
    if (moves) device.velocity = velocity.data(), host.velocity = u.data();
    bool good = true;
    for (index_t i = 0; i < source.count; ++i) host.accumulate(i, good);
    ASSERT_TRUE(good);
    rotation.rotate(Exec(), device, 1, 2, Mark());
    const Floats work = to_host(rotation.work());
    EXPECT_TRUE(same_bits(to_host(memory), a));
    EXPECT_TRUE(same_bits(to_host(velocity), u));
    for (const RotatedGroup& group : to_host(rotation.groups())) {
      const Plain expected = plain(Floats(&a[group.first], &a[group.first] + group.count), group, 1, 2);
      ASSERT_TRUE(same_bits(expected.y.data(), &work[group.work], expected.y.size())) << "group of " << group.count;
    }
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
