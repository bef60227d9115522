#pragma once
// In the build `lanes`, every test begins with the same order of fibres, so that a test that fails also fails alone.
#include <gtest/gtest.h>

#include <cstdio>

#include "gradcomp/kernels/lanes/fibres.hpp"

namespace gradcomp::test {

class LanesSeed final : public testing::EmptyTestEventListener {
  void OnTestProgramStart(const testing::UnitTest&) override {  // ctest shows it if a test fails
    std::printf("lanes in the order of GRADCOMP_LANES_SEED=%llu\n", static_cast<unsigned long long>(m_seed));
  }
  void OnTestStart(const testing::TestInfo&) override { kernels::fibres::seed(m_seed); }
  std::uint64_t m_seed = kernels::fibres::first_seed();
};

}  // namespace gradcomp::test
