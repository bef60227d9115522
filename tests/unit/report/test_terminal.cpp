// What the terminal shows: tables, numbers, the progress bar.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "gradcomp/core/error.hpp"
#include "gradcomp/report/progress.hpp"
#include "gradcomp/report/table.hpp"

namespace gradcomp::report {
namespace {

TEST(Table, AlignsAndStacksHeaders) {
  Table table({"method", "step time\n(ms)", "µs"});
  table.row({"fp32", "12.5", "1"}).row({"top_k:ratio=0.01", "7", "22"});
  EXPECT_EQ(table.text(),
            "                  step time\n"
            "method                 (ms)  µs\n"
            "----------------  ---------  --\n"
            "fp32                   12.5   1\n"
            "top_k:ratio=0.01          7  22\n");
}

TEST(Table, RefusesRowsOfAnotherLength) { EXPECT_THROW(Table({"a", "b"}).row({"1"}), Error); }

TEST(Table, Numbers) {
  EXPECT_EQ(format_number(0.0012345), "0.00123");
  EXPECT_EQ(format_number(9.996), "10.0");
  EXPECT_EQ(format_number(1234.6), "1235");
  EXPECT_EQ(format_number(0), "0");
  EXPECT_EQ(format_number(std::nan("")), "-");
  EXPECT_EQ(format_bytes(12), "12 B");
  EXPECT_EQ(format_bytes(999.6), "1.00 kB");
  EXPECT_EQ(format_bytes(1078888), "1.08 MB");
  EXPECT_EQ(format_percent(0.9344), "93.4 %");
}

TEST(ProgressBar, LineShowsPhaseCountAndTimeLeft) {
  const auto text = ProgressBar::line("train", 30, 120, 10, 79);
  EXPECT_EQ(text.rfind("train [", 0), 0u) << text;
  EXPECT_NE(text.find("] 30/120, 0:10, 0:30 left"), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '#') * 3, std::count(text.begin(), text.end(), '.')) << text;
  EXPECT_EQ(ProgressBar::line("train", 120, 120, 40, 79).find("left"), std::string::npos);
  EXPECT_LE(ProgressBar::line("a phase with a rather long name", 1, 2, 3, 30).size(), 30u);
  EXPECT_NO_THROW(ProgressBar::line("empty", 0, 0, 0, 79));
}

TEST(ProgressBar, SilentOffTerminalUnlessForced) {
  const auto drawn = [](bool enabled) {
    std::FILE* stream = std::tmpfile();
    {
      ProgressBar bar(enabled, stream);
      bar.phase("train", 1000);
      for (int i = 0; i < 1000; ++i) bar.advance();
    }
    const auto bytes = std::ftell(stream);
    std::fclose(stream);
    return bytes;
  };
  ::unsetenv("GRADCOMP_PROGRESS");
  EXPECT_EQ(drawn(true), 0);
  ::setenv("GRADCOMP_PROGRESS", "always", 1);
  EXPECT_GT(drawn(true), 0);
  EXPECT_LT(drawn(true), 1000) << "drawing is limited in rate";
  EXPECT_EQ(drawn(false), 0) << "other ranks never draw";
  ::unsetenv("GRADCOMP_PROGRESS");
}

}  // namespace
}  // namespace gradcomp::report
