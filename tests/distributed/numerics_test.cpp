// The numerics card: what it simulates for many ranks is what these ranks measure.
#include "gradcomp/allreduce/numerics.hpp"

#include <bit>

#include "distributed/world.hpp"
#include "gradcomp/allreduce/allreduce_benchmark.hpp"
#include "gradcomp/method/spec.hpp"

namespace gradcomp::test {
namespace numerics_test {

std::optional<double> simulated(const std::string& method, int ranks, Sum sum = Sum::rank_order) {
  return simulated_error(Exec(), parse_method(method), sum, ranks, 1);
}

TEST(Numerics, TheSimulationGivesTheErrorThatTheseRanksMeasure) {
  const auto comm = world();
  if (!std::has_single_bit(static_cast<unsigned>(comm->size()))) GTEST_SKIP() << "for powers of two";
  for (const std::string method : {"fp16", "bf16", "fp16:reducer=ring", "bf16:reducer=ring",
                                   "fp16:reducer=recursive_doubling", "bf16:reducer=recursive_doubling"}) {
    const double measured = measure_reduction(Exec(), method, 1 << 14, *comm, *comm, {1, 0, 1, false}).relative_error;
    EXPECT_NEAR(measured / simulated(method, comm->size(), comm->sum()).value(), 1, 0.03) << method;
  }
  EXPECT_LT(measure_reduction(Exec(), "fp32", 1 << 14, *comm, *comm, {1, 0, 1, false}).relative_error, 1e-6);
}

TEST(Numerics, RoundingEverySumCostsMoreWithMoreRanks) {
  for (const std::string format : {"fp16", "bf16"}) {
    const double once = *simulated(format, 128), ring = *simulated(format + ":reducer=ring", 128),
                 doubling = *simulated(format + ":reducer=recursive_doubling", 128);
    EXPECT_NEAR(once / *simulated(format, 2), 1, 0.05) << "rounded once, whatever the number of ranks";
    EXPECT_GT(ring, 4 * once);
    EXPECT_GT(doubling, 1.5 * once);
    EXPECT_LT(doubling, ring) << "7 roundings instead of 127";
    EXPECT_EQ(*simulated(format, 8, Sum::library), *simulated(format + ":reducer=ring", 8));
  }
  EXPECT_NEAR(*simulated("bf16", 32) / *simulated("fp16", 32), 8, 0.8) << "three bits less";
  EXPECT_LT(*simulated("fp32:reducer=ring", 512), 1e-6);
}

TEST(Numerics, OnlyDenseSumsWhoseOrderIsKnownAreSimulated) {
  EXPECT_EQ(simulated("top_k", 2), std::nullopt);
  EXPECT_EQ(simulated("bf16:reducer=tree", 2), std::nullopt);
}

}  // namespace numerics_test
}  // namespace gradcomp::test
