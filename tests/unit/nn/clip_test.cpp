#include "gradcomp/nn/clip.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "unit/nn/support.hpp"

namespace gradcomp::nn {
namespace {

double norm(const Vector<float>& x) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += static_cast<double>(x(i)) * static_cast<double>(x(i));
  return std::sqrt(sum);
}

void clip(const Vector<float>& x, double limit) {
  NormClip(static_cast<index_t>(x.size())).run(Exec(), x, limit);
  Exec().fence();
}

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
  clip(Vector<float>("", 0), 1);
  const Vector<float> x("", 5);
  clip(x, 1);
  EXPECT_EQ(norm(x), 0);
  Kokkos::deep_copy(x, 1e30F);  // its square is no float
  clip(x, 1);
  EXPECT_NEAR(norm(x), 1, 1e-6);
}

}  // namespace
}  // namespace gradcomp::nn
