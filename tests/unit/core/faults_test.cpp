#include "gradcomp/core/faults.hpp"

#include <gtest/gtest.h>

#include "gradcomp/core/error.hpp"

namespace gradcomp {
namespace faults_test {

void count_broken(const Exec& exec, const FaultCounts& faults) {
  Kokkos::parallel_for(
      "gradcomp::tests::broken", IndexRange(exec, 0, 1), KOKKOS_LAMBDA(const index_t) { faults.broken(); });
}

TEST(Faults, ReachTheHostWithTheNextFetch) {
  const Exec exec;
  Faults faults;
  EXPECT_FALSE(faults.diverged()) << "never fetched";
  count_diverged(exec, FaultCounts());  // nothing to count in
  faults.fetch(exec);
  EXPECT_FALSE(faults.diverged());
  count_diverged(exec, faults.counts());
  EXPECT_FALSE(faults.diverged());
  for (int again = 0; again < 2; ++again) {
    faults.fetch(exec);
    EXPECT_TRUE(faults.diverged());
  }
  faults.reset(exec);
  faults.fetch(exec);
  EXPECT_FALSE(faults.diverged());
}

TEST(Faults, OfBrokenMessagesAreErrors) {
  const Exec exec;
  Faults faults;
  count_diverged(exec, faults.counts());
  count_broken(exec, faults.counts());
  faults.fetch(exec);
  EXPECT_THROW(faults.diverged(), Error);
}

}  // namespace faults_test
}  // namespace gradcomp
