#pragma once
// Counts skipped tests by reason. At the end it prints a line per reason, which ./run test adds up.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <string>

namespace gradcomp::test {

class SkipCounter final : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.skipped()) return;
    const std::string text = result.message();
    ++m_tests[text.substr(0, text.find('\n'))];
  }
  void OnTestProgramEnd(const testing::UnitTest&) override {
    for (const auto& [reason, count] : m_tests) std::printf("skipped %d: %s\n", count, reason.c_str());
  }
  std::map<std::string, int> m_tests;  ///< number of tests for each reason
};

inline void count_skips() { testing::UnitTest::GetInstance()->listeners().Append(new SkipCounter); }

}  // namespace gradcomp::test
