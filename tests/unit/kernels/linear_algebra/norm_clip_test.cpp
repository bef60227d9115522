#include "gradcomp/kernels/linear_algebra/norm_clip.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "gradcomp/kernels/lanes/tiles.hpp"
#include "unit/nn/support.hpp"

namespace gradcomp::kernels {
namespace {

using test::Mirrored;

double norm(const Mirrored<float>& x) {
  double sum = 0;
  for (const float value : x.now()) sum += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(sum);
}

void clip(const Mirrored<float>& x, double limit) { NormClip(static_cast<index_t>(x.size())).run(Exec(), x, limit); }

TEST(NormClip, ScalesToTheLimitAndOnlyThen) {
  for (const int count : {1, 31, 4096, 4097, 100003}) {
    const auto x = test::random_vector<float>(count, 3), before = test::random_vector<float>(count, 3);
    const double length = norm(before);
    clip(x, 1.001 * length);
    for (int i = 0; i < count; ++i) ASSERT_EQ(x(i), before(i)) << count;
    clip(x, 0.25 * length);
    EXPECT_NEAR(norm(x), 0.25 * length, 1e-6 * length) << count;
    for (int i = 0; i < count; i += 7) ASSERT_NEAR(x(i), 0.25F * before(i), 1e-6) << count;
  }
}

TEST(NormClip, TakesNothingZerosAndLargeValues) {
  clip(Mirrored<float>(0), 1);
  const Mirrored<float> x(5);
  clip(x, 1);
  EXPECT_EQ(norm(x), 0);
  x.fill(1e30F);  // its square does not fit into a float
  clip(x, 1);
  EXPECT_NEAR(norm(x), 1, 1e-6);
}

// Parts that are multiples of a tile are summed in the order of the whole gradient and give the same bits. Other parts
// are summed in another order, in double.
TEST(NormClip, PartsInAnyOrderAreTheWhole) {
  constexpr int tile = static_cast<int>(kernels::tile_size);
  for (const std::vector<index_t>& parts :
       {std::vector<index_t>{tile, 3 * tile, 2 * tile + 17}, {5, 0, 2 * tile + 1, 1, 100}, {0, 7, 0}}) {
    index_t count = 0;
    for (const index_t part : parts) count += part;
    const auto whole = test::random_vector<float>(static_cast<int>(count), 5);
    const auto split = test::random_vector<float>(static_cast<int>(count), 5);
    const double limit = 0.3 * norm(whole);
    clip(whole, limit);
    NormClip norm_of_parts(parts);
    for (int round = 0; round < 2; ++round) {  // the second step must not use the norm of the first one
      const auto again = test::random_vector<float>(static_cast<int>(count), 5);
      if (round == 0) again.fill(1e6F);
      index_t end = count;
      for (std::size_t p = parts.size(); p-- > 0;) {  // in the order in which backward completes them
        end -= parts[p];
        norm_of_parts.observe(Exec(), end, subspan<const float>(again, end, parts[p]));
      }
      if (round == 1) split.assign(again);
      norm_of_parts.scale(Exec(), split, round == 0 ? 1e30 : limit);
    }
    const bool aligned = parts.front() == tile;
    for (index_t i = 0; i < count; ++i) {
      ASSERT_NEAR(split(i), whole(i), aligned ? 0 : 1e-6F * std::abs(whole(i))) << i;
    }
  }
}

}  // namespace
}  // namespace gradcomp::kernels
