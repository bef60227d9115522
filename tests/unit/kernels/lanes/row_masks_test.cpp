#include "gradcomp/kernels/lanes/row_masks.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace gradcomp::kernels {
namespace row_masks_test {

// The version for a special instruction set finds the same bits as all other back ends.
TEST(RowMasks, AreThoseOfTheBallot) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> special{0.0f, -0.0f, 1e-45f, -1e-45f, 1.0f, -1.0f, infinity, -infinity, nan, -nan, 3e38f};
  std::vector<float> x(warp_lanes + 7);
  std::uint32_t random = 1;
  for (int round = 0; round < 2000; ++round) {
    for (float& value : x) {
      random = random * 1664525u + 1013904223u;
      value = random >> 30 == 0 ? special[(random >> 8) % special.size()] : Kokkos::bit_cast<float>(random);
    }
    const float* const row = x.data() + round % 7;  // rows of any alignment
    for (const std::int32_t low : {-1, 0, magnitude(row[0]), magnitude(row[31]) - 1, 0x3f800000, 0x7fffffff}) {
      std::uint32_t expected = 0;
      for (int l = 0; l < warp_lanes; ++l) expected |= magnitude(row[l]) > low ? std::uint32_t{1} << l : 0u;
      ASSERT_EQ(ballot_above(HostWarp{}, row, low), expected);
      ASSERT_EQ(above_mask(HostWarp{}, row, low), expected);
    }
    for (const float bound : {0.0f, -0.0f, row[0], row[31], infinity, -infinity, nan, 1e-45f}) {
      std::uint32_t expected = 0;
      for (int l = 0; l < warp_lanes; ++l) expected |= row[l] < bound ? std::uint32_t{1} << l : 0u;
      ASSERT_EQ(below_mask(HostWarp{}, row, bound), expected) << bound;
    }
  }
}

}  // namespace row_masks_test
}  // namespace gradcomp::kernels
