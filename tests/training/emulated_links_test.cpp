// How many threads share a core, over ranks that say which machine they run on.
#include "gradcomp/train/emulated_links.hpp"

#include "distributed/world.hpp"

namespace gradcomp::train::test {
namespace emulated_links_test {

using gradcomp::test::world;

/// A machine with 2 cores, on which a rank computes with `threads` threads.
Machine machine(const std::string& host, int threads) {
  Machine m;
  m.host_name = host;
  m.threads = threads;
  m.cores_online = 2;
  return m;
}

TEST(RanksPerCore, CountsTheRanksOfItsOwnHost) {
  if (!device_is_host) GTEST_SKIP() << "each rank has a device of its own";
  const auto comm = world();
  EXPECT_EQ(ranks_per_core(*comm, machine("one", 3)), 1.5 * comm->size());
  EXPECT_EQ(ranks_per_core(*comm, machine(fmt::format("host{}", comm->rank()), 3)), 1.5);
}

/// One rank is alone on a host with 8 threads on 2 cores. The others share another one, with 1 thread each.
TEST(RanksPerCore, IsThatOfTheBusiestHostOnAllRanks) {
  if (!device_is_host) GTEST_SKIP() << "each rank has a device of its own";
  const auto comm = world();
  for (int busy = 0; busy < comm->size(); ++busy) {
    const Machine own = comm->rank() == busy ? machine("busy", 8) : machine("idle", 1);
    EXPECT_EQ(ranks_per_core(*comm, own), 4) << "rank " << busy << " is busy";
  }
}

}  // namespace emulated_links_test
}  // namespace gradcomp::train::test
