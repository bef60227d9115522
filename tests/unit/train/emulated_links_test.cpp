// How much slower emulated links are because threads share cores.
#include "gradcomp/train/emulated_links.hpp"

#include <gtest/gtest.h>

namespace gradcomp::train {
namespace {

TEST(ThreadsPerCore, AreTheThreadsOfAllRanksOverTheCoresAndAtLeastOne) {
  EXPECT_EQ(threads_per_core(4, 1, 2), 2);
  EXPECT_EQ(threads_per_core(2, 1, 2), 1);
  EXPECT_EQ(threads_per_core(1, 1, 2), 1) << "half a thread per core is no faster than one";
  EXPECT_EQ(threads_per_core(3, 2, 4), 1.5);
  EXPECT_EQ(threads_per_core(3, 1, 0), 3) << "the operating system does not know its cores";
}

}  // namespace
}  // namespace gradcomp::train
