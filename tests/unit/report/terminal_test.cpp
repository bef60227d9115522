// Output to a terminal: tables, numbers, the progress bar.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "gradcomp/core/error.hpp"
#include "gradcomp/report/progress.hpp"
#include "gradcomp/report/table.hpp"

namespace gradcomp::report {
namespace terminal_test {

TEST(Table, Aligns) {
  Table table({"method", "step ms", "µs"});
  table.row({"fp32", "12.5", "1"}).row({"top_k:ratio=0.01", "7", "22"});
  EXPECT_EQ(table.text(),
            "method            step ms  µs\n"
            "----------------  -------  --\n"
            "fp32                 12.5   1\n"
            "top_k:ratio=0.01        7  22\n");
}

TEST(Table, GivesLongNamesALineOfTheirOwn) {
  const auto text = [](std::size_t most) {
    return Table({"method", "step ms"}, most)
        .row({"qsgd", "7"})
        .row({"top_k:µ=1", "12"})
        .row({"powersgd:r=2", "3"})
        .text();
  };
  const std::string whole =
      "method        step ms\n"
      "------------  -------\n"
      "qsgd                7\n"
      "top_k:µ=1          12\n"
      "powersgd:r=2        3\n";
  EXPECT_EQ(text(0), whole);
  EXPECT_EQ(text(21), whole);
  EXPECT_EQ(text(20),
            "method     step ms\n"
            "---------  -------\n"
            "qsgd             7\n"
            "top_k:µ=1       12\n"
            "powersgd:r=2\n"
            "                 3\n");
  EXPECT_EQ(text(5),
            "method  step ms\n"
            "------  -------\n"
            "qsgd          7\n"
            "top_k:µ=1\n"
            "             12\n"
            "powersgd:r=2\n"
            "              3\n")
      << "a short name stays although its row is too long";
  EXPECT_EQ(Table({"name"}).row({"x"}).text(), "name\n----\nx\n");
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

TEST(Table, NumbersAtTheirEdges) {
  EXPECT_EQ(format_number(-0.0012345), "-0.00123");
  EXPECT_EQ(format_number(99.95), "100") << "it has three digits after rounding";
  EXPECT_EQ(format_number(99.94), "99.9");
  EXPECT_EQ(format_number(0.5, 2), "0.50");
  EXPECT_EQ(format_number(9.99e14), "999000000000000");
  EXPECT_EQ(format_number(1e15), "1e+15");
  EXPECT_EQ(format_number(HUGE_VAL), "inf");
  EXPECT_EQ(format_bytes(999.4), "999 B");
  EXPECT_EQ(format_bytes(999.5), "1.00 kB") << "otherwise it would be 1000 B";
  EXPECT_EQ(format_bytes(-2000), "-2.00 kB");
  EXPECT_EQ(format_bytes(999.4e3), "999 kB");
  EXPECT_EQ(format_bytes(999.6e3), "1.00 MB");
  EXPECT_EQ(format_bytes(2.5e9), "2.50 GB");
  EXPECT_EQ(format_bytes(2.5e12), "2.50 TB");
  EXPECT_EQ(format_bytes(5e15), "5000 TB") << "there is no larger unit";
  EXPECT_EQ(format_bytes(std::nan("")), "-");
  EXPECT_EQ(format_percent(std::nan("")), "-");
}

TEST(ProgressBar, LineByHand) {
  const auto line = [](index_t done, double elapsed, int columns) {
    return ProgressBar::line("train", done, 120, elapsed, columns);
  };
  // "train " and the 25 characters after the bar leave 46 of 78 columns. The bar has at most 40, of which a quarter is
  // done.
  EXPECT_EQ(line(30, 10, 79), "train [" + std::string(10, '#') + std::string(30, '.') + "] 30/120, 0:10, 0:30 left");
  EXPECT_EQ(line(30, 10, 40), "train [##......] 30/120, 0:10, 0:30 left");
  EXPECT_EQ(line(30, 10, 37), "train [#....] 30/120, 0:10, 0:30 left");
  EXPECT_EQ(line(30, 10, 36), "train 30/120, 0:10, 0:30 left") << "there is no room for a bar of five";
  EXPECT_EQ(line(30, 10, 7), "train 3");
  EXPECT_EQ(line(30, 10, -1), "");
  EXPECT_EQ(line(0, 3661, 79), "train [" + std::string(40, '.') + "] 0/120, 1:01:01");
  EXPECT_EQ(line(120, 3599.4, 79), "train [" + std::string(40, '#') + "] 120/120, 59:59");
  EXPECT_EQ(line(120, 3599.6, 79), "train [" + std::string(40, '#') + "] 120/120, 1:00:00");
  EXPECT_EQ(ProgressBar::line("x", 1, 1, 0, 20), "x [######] 1/1, 0:00");
  EXPECT_EQ(line(132, 1, 79), "train [" + std::string(40, '#') + "] 132/120, 0:01")
      << "the bar never exceeds its width";
}

TEST(ProgressBar, LineShowsPhaseCountAndTimeLeft) {
  const auto text = ProgressBar::line("train", 30, 120, 10, 79);
  EXPECT_EQ(text.rfind("train [", 0), 0u) << text;
  EXPECT_NE(text.find("] 30/120, 0:10, 0:30 left"), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '#') * 3, std::count(text.begin(), text.end(), '.')) << text;
  EXPECT_EQ(ProgressBar::line("train", 120, 120, 40, 79).find("left"), std::string::npos);
  EXPECT_NE(ProgressBar::line("train", 1, 3, 10, 79).find("] 1/3, 0:10, 0:20 left"), std::string::npos);
  EXPECT_EQ(ProgressBar::line("train", 0, 3, 10, 79).find("left"), std::string::npos) << "nothing is known yet";
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

/// The text that a bar of one step writes to a terminal.
std::string drawn_on_a_terminal() {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (master < 0 || ::grantpt(master) != 0 || ::unlockpt(master) != 0) return "no terminal";
  std::FILE* stream = ::fopen(::ptsname(master), "w");
  if (stream == nullptr) return "no terminal";
  winsize size{};
  size.ws_col = 41;
  ::ioctl(::fileno(stream), TIOCSWINSZ, &size);
  {
    ProgressBar bar(true, stream);
    bar.phase("train", 1);
    bar.advance();
  }
  std::string text;
  std::array<char, 4096> part{};
  pollfd waits{master, POLLIN, 0};
  while (::poll(&waits, 1, 200) > 0) {  // on a busy machine, the text arrives in pieces
    const auto count = ::read(master, part.data(), part.size());
    if (count <= 0) break;
    text.append(part.data(), static_cast<std::size_t>(count));
  }
  std::fclose(stream);
  ::close(master);
  return text;
}

TEST(ProgressBar, RewritesOneLineOfATerminalUnlessToldNever) {
  ::unsetenv("GRADCOMP_PROGRESS");
  const auto text = drawn_on_a_terminal();
  if (text == "no terminal") GTEST_SKIP() << "this machine has no terminal";
  // Of 40 of 41 columns, "train ", the bracket and the 11 characters after the bar leave 22.
  EXPECT_EQ(text.rfind("\rtrain [" + std::string(22, '.') + "] 0/1, 0:", 0), 0U) << text;
  EXPECT_NE(text.find("\033[K\rtrain [" + std::string(22, '#') + "] 1/1, 0:"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("\033[K\r\033[K")) << text;
  ::setenv("GRADCOMP_PROGRESS", "never", 1);
  EXPECT_EQ(drawn_on_a_terminal(), "");
  ::unsetenv("GRADCOMP_PROGRESS");
}

}  // namespace terminal_test
}  // namespace gradcomp::report
