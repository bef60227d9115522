#include "gradcomp/measure/samples.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "gradcomp/core/error.hpp"
#include "unit/measure/fake_transport.hpp"

namespace gradcomp {
namespace samples_test {

TEST(Samples, HandValues) {
  const Samples s({5, 1, 4, 2, 3});
  EXPECT_EQ(s.count(), 5);
  EXPECT_DOUBLE_EQ(s.median(), 3);
  EXPECT_DOUBLE_EQ(s.minimum(), 1);
  EXPECT_DOUBLE_EQ(s.maximum(), 5);
  EXPECT_DOUBLE_EQ(s.mean(), 3);
  EXPECT_DOUBLE_EQ(s.sum(), 15);
  EXPECT_DOUBLE_EQ(s.p5(), 1.2);                                // position 0.05 x 4 = 0.2
  EXPECT_DOUBLE_EQ(s.p95(), 4.8);                               // position 3.8
  EXPECT_EQ(s.values(), (std::vector<double>{5, 1, 4, 2, 3}));  // raw, in the order of arrival
}

TEST(Samples, EvenCountSingleAndNone) {
  EXPECT_DOUBLE_EQ(Samples({4, 1, 3, 2}).median(), 2.5);
  Samples one;
  one.add(7);
  for (const double q : {0.0, 0.05, 0.5, 0.95, 1.0}) EXPECT_DOUBLE_EQ(one.quantile(q), 7);
  EXPECT_DOUBLE_EQ(Samples({4, 1, 3, 2}).quantile(-0.5), 1);
  EXPECT_DOUBLE_EQ(Samples({4, 1, 3, 2}).quantile(1.5), 4);
  EXPECT_DOUBLE_EQ(Samples({1, 2, 6}).mean(), 3) << "it is not the median";
  const Samples none;
  EXPECT_EQ(none.count(), 0);
  for (const double v : {none.median(), none.mean(), none.minimum(), none.p95()}) EXPECT_TRUE(std::isnan(v));
  EXPECT_DOUBLE_EQ(none.sum(), 0);
}

TEST(Samples, HundredAndOneValues) {
  Samples s;
  for (int i = 100; i >= 0; --i) s.add(i);
  EXPECT_DOUBLE_EQ(s.p5(), 5);
  EXPECT_DOUBLE_EQ(s.median(), 50);
  EXPECT_DOUBLE_EQ(s.p95(), 95);
}

TEST(Samples, MaximumOverRanks) {
  const Exec exec;
  // The times of the other rank, in the form in which they are reduced.
  const auto comm = scripted({{2, -2}, {1'000'000, 4'000'000}});
  const auto slowest = max_over_ranks(exec, *comm, Samples({0.003, 0.002}));
  ASSERT_EQ(slowest.count(), 2);
  EXPECT_NEAR(slowest.values()[0], 0.003, 1e-12);
  EXPECT_NEAR(slowest.values()[1], 0.004, 1e-12);
}

TEST(Samples, MaximumOverRanksRefusesOtherCounts) {
  const Exec exec;
  const auto comm = scripted({{3, -3}});
  EXPECT_THROW(max_over_ranks(exec, *comm, Samples({0.003, 0.002})), Error);
}

}  // namespace samples_test
}  // namespace gradcomp
