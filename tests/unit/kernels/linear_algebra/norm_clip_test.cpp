#include "gradcomp/kernels/linear_algebra/norm_clip.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "copies.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"

namespace gradcomp::kernels {
namespace norm_clip_test {

using Values = std::vector<float>;

Values random_values(index_t count, unsigned seed) {
  std::mt19937 draws(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  Values values(static_cast<std::size_t>(count));
  for (float& value : values) value = uniform(draws);
  return values;
}

double norm(const Values& x) {
  double sum = 0;
  for (const float value : x) sum += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(sum);
}

Values clipped(const Values& x, double limit) {
  const auto device = test::to_device(x);
  NormClip(static_cast<index_t>(x.size())).run(Exec(), device, limit);
  return test::to_host(device);
}

TEST(NormClip, ScalesToTheLimitAndOnlyThen) {
  for (const index_t count : {1, 31, 4096, 4097, 100003}) {
    const Values x = random_values(count, 3);
    const double length = norm(x);
    EXPECT_EQ(clipped(x, 1.001 * length), x) << count;
    const Values quarter = clipped(x, 0.25 * length);
    EXPECT_NEAR(norm(quarter), 0.25 * length, 1e-6 * length) << count;
    for (std::size_t i = 0; i < x.size(); i += 7) ASSERT_NEAR(quarter[i], 0.25F * x[i], 1e-6) << count;
  }
}

TEST(NormClip, TakesNothingZerosAndLargeValues) {
  EXPECT_EQ(clipped({}, 1), Values());
  EXPECT_EQ(norm(clipped(Values(5), 1)), 0);
  EXPECT_NEAR(norm(clipped(Values(5, 1e30F), 1)), 1, 1e-6) << "the square of a value does not fit into a float";
}

// Parts that are multiples of a tile are summed in the order of the whole gradient and give the same bits. Other parts
// are summed in another order, in double.
TEST(NormClip, PartsInAnyOrderAreTheWhole) {
  for (const std::vector<index_t>& parts : {std::vector<index_t>{tile_size, 3 * tile_size, 2 * tile_size + 17},
                                            {5, 0, 2 * tile_size + 1, 1, 100},
                                            {0, 7, 0}}) {
    index_t count = 0;
    for (const index_t part : parts) count += part;
    const Values x = random_values(count, 5);
    const double limit = 0.3 * norm(x);
    const Values whole = clipped(x, limit);
    const NormClip norm_of_parts(parts);
    Values split;
    for (int round = 0; round < 2; ++round) {  // the second step must not use the norm of the first one
      const auto device = test::to_device(round == 0 ? Values(x.size(), 1e6F) : x);
      index_t end = count;
      for (std::size_t p = parts.size(); p-- > 0;) {  // in the order in which backward completes them
        end -= parts[p];
        norm_of_parts.observe(Exec(), end, subspan<const float>(device, end, parts[p]));
      }
      norm_of_parts.scale(Exec(), device, round == 0 ? 1e30 : limit);
      split = test::to_host(device);
    }
    const bool aligned = parts.front() == tile_size;
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_NEAR(split[i], whole[i], aligned ? 0 : 1e-6F * std::abs(whole[i])) << i;
    }
  }
}

}  // namespace norm_clip_test
}  // namespace gradcomp::kernels
