// The numerics card: what it simulates for many ranks is what these ranks measure.
#include "gradcomp/allreduce/numerics.hpp"

#include <bit>

#include "distributed/world.hpp"
#include "gradcomp/allreduce/allreduce_benchmark.hpp"
#include "gradcomp/method/spec.hpp"

namespace gradcomp::test {
namespace numerics_test {

std::optional<double> simulated(const std::string& method, int ranks) {
  return simulated_error(Exec(), parse_method(method), ranks, 1);
}

double measured(const std::string& method, Transport& comm) {
  return measure_reduction(Exec(), method, 1 << 14, comm, comm, {1, 0, 1, false}).relative_error;
}

TEST(Numerics, TheSimulationGivesTheErrorThatTheseRanksMeasure) {
  const auto comm = world();
  if (!std::has_single_bit(static_cast<unsigned>(comm->size()))) GTEST_SKIP() << "for powers of two";
  for (const std::string format : {"fp16", "bf16"}) {
    for (const std::string reducer : {"rank_order", "ring", "recursive_doubling"}) {
      const std::string method = format + ":reducer=" + reducer;
      EXPECT_NEAR(measured(method, *comm) / simulated(method, comm->size()).value(), 1, 0.03) << method;
    }
  }
  EXPECT_LT(measured("fp32", *comm), 1e-6);
}

TEST(Numerics, AnAllreduceOfALibraryRoundsAtMostAsOftenAsARing) {
  const auto comm = world();
  if (!std::has_single_bit(static_cast<unsigned>(comm->size()))) GTEST_SKIP() << "for powers of two";
  for (const std::string format : {"fp16", "bf16"}) {
    const double error = measured(format, *comm);
    EXPECT_LT(error, 1.03 * *simulated(format + ":reducer=ring", comm->size()));
    EXPECT_GT(error, 0.97 * *simulated(format + ":reducer=rank_order", comm->size()));
  }
}

TEST(Numerics, RoundingEverySumCostsMoreWithMoreRanks) {
  for (const std::string format : {"fp16", "bf16"}) {
    const double once = *simulated(format + ":reducer=rank_order", 128),
                 ring = *simulated(format + ":reducer=ring", 128),
                 doubling = *simulated(format + ":reducer=recursive_doubling", 128);
    EXPECT_NEAR(once / *simulated(format + ":reducer=rank_order", 2), 1, 0.05)
        << "rounded once, whatever the number of ranks";
    EXPECT_GT(ring, 4 * once);
    EXPECT_GT(doubling, 1.5 * once);
    EXPECT_LT(doubling, ring) << "7 roundings instead of 127";
  }
  EXPECT_NEAR(*simulated("bf16:reducer=ring", 32) / *simulated("fp16:reducer=ring", 32), 8, 0.8) << "three bits less";
  EXPECT_LT(*simulated("fp32:reducer=ring", 512), 1e-6);
}

TEST(Numerics, OnlyDenseSumsWhoseOrderIsKnownAreSimulated) {
  EXPECT_EQ(simulated("top_k", 2), std::nullopt);
  EXPECT_EQ(simulated("bf16", 2), std::nullopt);
  EXPECT_EQ(simulated("bf16:reducer=tree", 2), std::nullopt);
}

}  // namespace numerics_test
}  // namespace gradcomp::test
