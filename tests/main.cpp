#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>

#include "skips.hpp"
#ifdef GRADCOMP_LANES
#include "lanes_seed.hpp"
#endif

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  gradcomp::test::count_skips();
#ifdef GRADCOMP_LANES
  testing::UnitTest::GetInstance()->listeners().Append(new gradcomp::test::LanesSeed);
#endif
  return RUN_ALL_TESTS();
}
