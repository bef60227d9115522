// What every program does with its command line and its errors.
#include "gradcomp/program/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "error_of.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/program/arguments.hpp"

namespace gradcomp {
namespace {

using testing::HasSubstr;

/// As main() gets them.
class Words {
 public:
  explicit Words(std::vector<std::string> words) : m_words(std::move(words)) {
    for (auto& word : m_words) m_pointers.push_back(word.data());
  }
  int count() const { return static_cast<int>(m_pointers.size()); }
  char** pointers() { return m_pointers.data(); }

 private:
  std::vector<std::string> m_words;
  std::vector<char*> m_pointers;
};

TEST(Arguments, KokkosGetsItsOwnAndTheThreads) {
  Words words({"program", "--quick", "--kokkos-num-threads=2", "--threads", "2"});
  Arguments arguments(words.count(), words.pointers());
  EXPECT_EQ(arguments.own_argc, 4);
  EXPECT_EQ(arguments.kokkos_argc, 2);
  EXPECT_NO_THROW(arguments.set_threads(0));
  EXPECT_EQ(arguments.kokkos_argc, 2);
  EXPECT_NO_THROW(arguments.set_threads(2));
  EXPECT_EQ(arguments.kokkos_argc, 3);
  EXPECT_STREQ(arguments.kokkos_argv()[2], "--kokkos-num-threads=2");
  EXPECT_EQ(arguments.kokkos_argv()[3], nullptr) << "as argv[argc]";
  EXPECT_THROW(Arguments(words.count(), words.pointers()).set_threads(3), Error);
}

TEST(Parse, GoesOnEndsOrRefuses) {
  CLI::App app("what it does", "program");
  app.set_version_flag("--version", "program 1.2");
  int number = 0;
  app.add_option("--number", number);
  using Outcome = std::tuple<std::optional<int>, std::string, std::string>;  // status, output, error
  const auto parsed = [&](std::vector<std::string> arguments, bool prints) {
    arguments.insert(arguments.begin(), "program");
    Words words(std::move(arguments));
    testing::internal::CaptureStdout();
    std::optional<int> status;
    const std::string refused = test::error_of([&] { status = parse(app, words.count(), words.pointers(), prints); });
    return Outcome(status, testing::internal::GetCapturedStdout(), refused);
  };
  EXPECT_EQ(parsed({"--number", "3"}, true), Outcome(std::nullopt, "", ""));
  EXPECT_EQ(number, 3);
  EXPECT_EQ(parsed({"--version"}, true), Outcome(0, "program 1.2\n", ""));
  EXPECT_EQ(parsed({"--version"}, false), Outcome(0, "", "")) << "another rank prints it";
  EXPECT_THAT(std::get<1>(parsed({"--help"}, true)), HasSubstr("what it does"));
  EXPECT_THAT(std::get<2>(parsed({"--number", "x"}, true)), HasSubstr("--number"));
  EXPECT_THAT(std::get<2>(parsed({"--other"}, false)), HasSubstr("--other"));
}

TEST(RunProgram, AnErrorIsOneLineAndStatusOne) {
  EXPECT_EQ(run_program("program", [] { return 7; }), 7);
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_program("program", []() -> int { throw Error("no luck"); }), 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "program: error: no luck\n");
}

}  // namespace
}  // namespace gradcomp
