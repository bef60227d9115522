// What every program does with its command line and its errors.
#include "gradcomp/program/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "error_of.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/program/arguments.hpp"
#include "temporary_folder.hpp"

namespace gradcomp {
namespace program_test {

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

TEST(Help, ShowsWhatIsTypedInLinesOfATerminal) {
  CLI::App app("Trains one model data-parallel, with one or more gradient compressors, in one job,\nbeside controls.",
               "program");
  begin_options(app);
  bool controls = true;
  std::string nesterov = "off";
  std::vector<int> at;
  app.add_flag("!--no-controls", controls, "do not add the controls");
  app.add_flag("--nesterov{on}", nesterov, "the step is g + momentum v")->check(CLI::IsMember({"off", "on"}));
  app.add_option("--at", at,
                 "steps, counted from 0, at which --dump-gradients and --dump-importance write their files");
  Words words({"program", "--no-controls", "--nesterov"});
  EXPECT_EQ(parse(app, words.count(), words.pointers()), std::nullopt);
  EXPECT_FALSE(controls);
  EXPECT_EQ(nesterov, "on");
  const std::string help = app.help();
  EXPECT_THAT(help, testing::ContainsRegex("  --no-controls  +do not add the controls\n"));
  EXPECT_THAT(help, testing::ContainsRegex("  --nesterov\\[=\\{off,on\\}\\]  +the step"));
  EXPECT_THAT(help,
              testing::ContainsRegex("  --at INT  ...  +steps, counted from 0, at which --dump-gradients\n +and"));
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
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

TEST(Parse, TakesDecimalNumbersAndUtf8Alone) {
  CLI::App app("", "program");
  std::int64_t number = 0;
  std::uint64_t seed = 0;
  double rate = 0;
  app.add_option("--number", number);
  app.add_option("--seed", seed);
  app.add_option("--rate", rate);
  const auto refused = [&](const std::string& option, const std::string& value) {
    Words words({"program", option, value});
    return test::error_of([&] { parse(app, words.count(), words.pointers()); });
  };
  EXPECT_EQ(refused("--number", "-10"), "");
  EXPECT_EQ(number, -10);
  EXPECT_EQ(refused("--seed", "18446744073709551615"), "");
  EXPECT_EQ(seed, UINT64_MAX);
  EXPECT_EQ(refused("--rate", "01.5e-3"), "");
  EXPECT_EQ(rate, 1.5e-3);
  for (const char* text : {"010", "-010", "0x10", "1'000", "1_000", " 4", "12abc", "1e3", "99999999999999999999"}) {
    EXPECT_EQ(refused("--number", text), fmt::format("--number: '{}' is not a decimal number", text));
  }
  EXPECT_EQ(refused("--seed", "-1"), "--seed: '-1' is not a decimal number");
  EXPECT_EQ(refused("--rate", "1e400"), "--rate: '1e400' is not a decimal number");
  EXPECT_EQ(refused("--rate", "a\xFF"), "argument 2, 'a\xFF', is not UTF-8 text: no character begins at byte 1");
}

class ConfigFiles : public test::TemporaryFolder {
 protected:
  /// The error of a program whose configuration has this text, without the name of the file in front.
  std::string refused(const std::string& text, std::vector<std::string> more = {}) {
    const std::string file = path("c.toml"), name = "'" + file + "'";
    std::ofstream(file) << text;
    CLI::App app("", "program");
    begin_options(app);
    app.add_option("--steps", m_steps);
    app.add_option("--steps-more", m_steps);
    app.add_flag("--augment", m_augment);
    more.insert(more.begin(), {"program", "--config", file});
    Words words(std::move(more));
    const std::string error = test::error_of([&] { parse(app, words.count(), words.pointers()); });
    return error.starts_with(name) ? error.substr(name.size()) : error;
  }

  std::int64_t m_steps = 0;
  bool m_augment = false;
};

TEST_F(ConfigFiles, ErrorsNameTheKeyAndTheLine) {
  EXPECT_EQ(refused("# a comment\nsteps = 3\naugment = true\n"), "");
  EXPECT_EQ(m_steps, 3);
  EXPECT_TRUE(m_augment);
  EXPECT_EQ(refused("\n# steps = 1\n\"steps\" = 12abc\n"), ", line 3: --steps: '12abc' is not a decimal number");
  EXPECT_EQ(refused("steps-more = x\nsteps = 3\n"), ", line 1: --steps-more: 'x' is not a decimal number");
  EXPECT_THAT(refused("augment = maybe\n"), HasSubstr(", line 1: Could not convert: --augment = maybe"));
  EXPECT_THAT(refused("steps = 3\nsteps = 4\n"), HasSubstr(", line 2: --steps: "));
  EXPECT_EQ(
      refused("steps = 3\nstepz = 4\n"),
      ", line 2: unknown key 'stepz'; did you mean 'steps'? allowed: the options of --help, without their dashes");
  EXPECT_THAT(refused("[train]\nsteps = 3\n"), HasSubstr(", line 2: unknown key 'train.steps'"));
  EXPECT_THAT(refused("steps = 3\n.1 = 2\n"), HasSubstr(", line 2: unknown key '.1'"));
  EXPECT_THAT(refused("a..b = 2\n"), HasSubstr(", line 1: unknown key 'a..b'"));
  EXPECT_EQ(refused("\n[[]]\nsteps = 3\n"), ", line 2: a section without a name; allowed: KEY = VALUE");
  EXPECT_THAT(refused("[.]\nsteps = 3\n"), HasSubstr("unknown key"));
  EXPECT_THAT(refused("steps 3\n"), HasSubstr(", line 1: unknown key 'steps 3'"));
  EXPECT_EQ(refused("steps = \xFF\n"), " is not UTF-8 text: no character begins at byte 8");
  EXPECT_EQ(refused("steps = 3\n", {"--steps", "x"}), "--steps: 'x' is not a decimal number") << "not the file's";
}

TEST(RunProgram, AnErrorIsOneLineAndStatusOne) {
  EXPECT_EQ(run_program("program", [] { return 7; }), 7);
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_program("program", []() -> int { throw Error("no luck"); }), 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "program: error: no luck\n");
}

}  // namespace program_test
}  // namespace gradcomp
