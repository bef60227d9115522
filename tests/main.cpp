#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>

#include "skips.hpp"

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  gradcomp::test::count_skips();
  return RUN_ALL_TESTS();
}
