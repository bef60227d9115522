#include "gradcomp/program/program.hpp"

#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <regex>
#include <sstream>

#include "gradcomp/comm/agree.hpp"
#include "gradcomp/comm/transports/mpi.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/core/git_version.hpp"
#include "gradcomp/core/number.hpp"
#include "gradcomp/core/standard_output.hpp"
#include "gradcomp/core/utf8.hpp"
#include "gradcomp/core/version_config.hpp"
#include "gradcomp/program/arguments.hpp"
#include "gradcomp/program/config_file.hpp"
#include "gradcomp/program/huge_pages.hpp"

namespace gradcomp {
namespace {

/// Help in 80 columns. CLI11 writes what a flag sets behind its name, "--no-controls{false}", its choices as
/// " :{off,on}", and "[{}]" where a list is empty by default.
class Formatter : public CLI::Formatter {
 public:
  std::string make_description(const CLI::App* app) const override {
    return wrapped(app->get_description(), 80) + "\n";
  }
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    return std::regex_replace(CLI::Formatter::make_option_name(option, is_positional), std::regex("\\{[^}]*\\}"), "");
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string options = CLI::Formatter::make_option_opts(option);
    return std::regex_replace(std::regex_replace(options, std::regex("^ :(\\{[^}]*\\})"), "[=$1]"),
                              std::regex(" \\[\\{\\}\\]"), "");
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    return wrapped(option->get_description(), 80 - column_width_);
  }
};

int run_with_kokkos(int argc, char** argv, const std::function<std::optional<int>(int, char**)>& parse,
                    const std::function<int()>& body) {
  Arguments arguments(argc, argv);
  const Kokkos::ScopeGuard kokkos(arguments.kokkos_argc, arguments.kokkos_argv());
  ask_for_huge_pages();
  if (const auto status = parse(arguments.own_argc, arguments.own_argv())) return *status;
  return body();
}

/// The sources from which this program was built, and how.
std::string build_text() {
  return fmt::format("{}, commit {}{}, {}, {}", GRADCOMP_VERSION, GRADCOMP_GIT_HASH,
                     GRADCOMP_GIT_DIRTY ? " with changes" : "", GRADCOMP_COMPILER, GRADCOMP_BUILD_TYPE);
}

/// The line that tells why ranks refuse their arguments; empty if none refuses. `own`: the reason of this rank, or an
/// empty text. The line names the first such rank, unless all of them refuse what they share. Collective.
std::string refusal_on_any_rank(Transport& transport, const std::string& own) {
  const auto reasons = gather_texts(transport, own);
  const auto first = std::find_if(reasons.begin(), reasons.end(), [](const auto& text) { return !text.empty(); });
  if (first == reasons.end()) return "";
  const bool everywhere = std::count(reasons.begin(), reasons.end(), *first) == std::ssize(reasons);
  return everywhere ? *first : fmt::format("on rank {}: {}", first - reasons.begin(), *first);
}

/// Nothing if `text` is a T, otherwise what is wrong. CLI11 would take 010 for 8, and 1'000 for 1000.
template <class T>
std::string not_decimal(const std::string& text) {
  const auto digits = text.substr(text.starts_with('-') ? 1 : 0);
  const bool octal = std::is_integral_v<T> && digits.size() > 1 && digits.front() == '0';
  return to_number<T>(text) && !octal ? "" : fmt::format("'{}' is not a decimal number", text);
}

void only_decimal_numbers(CLI::App& app) {
  for (CLI::Option* option : app.get_options({})) {
    const std::string type = option->get_type_name();
    if (type.starts_with("INT")) option->check(not_decimal<index_t>);
    if (type.starts_with("UINT")) option->check(not_decimal<std::uint64_t>);
    if (type.starts_with("FLOAT")) option->check(not_decimal<double>);
  }
}

}  // namespace

std::string wrapped(const std::string& text, std::size_t columns) {
  std::string lines;
  std::size_t used = 0;
  std::istringstream words(text);
  for (std::string word; words >> word; used += word.size()) {
    if (used > 0) {
      const bool fits = used + 1 + word.size() <= columns;
      lines += fits ? ' ' : '\n';
      used = fits ? used + 1 : 0;
    }
    lines += word;
  }
  return lines;
}

void begin_options(CLI::App& app) {
  app.set_version_flag("--version", app.get_name() + " " GRADCOMP_VERSION);
  app.set_config("--config", "", "read options from a TOML file");
  app.config_formatter(std::make_shared<ConfigFile>(app));
  app.option_defaults()->always_capture_default();
  app.footer("Also takes Kokkos' own options (--kokkos-help).");
}

std::optional<int> parse(CLI::App& app, int argc, char** argv, bool prints) {
  for (int i = 1; i < argc; ++i) require_text(fmt::format("argument {}, '{}',", i, argv[i]), argv[i]);
  only_decimal_numbers(app);
  app.formatter(std::make_shared<Formatter>());
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return prints ? app.exit(success) : 0;
  } catch (const std::exception& error) {
    const auto config = std::dynamic_pointer_cast<ConfigFile>(app.get_config_formatter());
    throw Error((config ? config->place_of(error.what()) : "") + error.what());
  }
  return std::nullopt;
}

int run_program(const char* program, const std::function<int()>& body) {
  let_writes_fail();
  try {
    const int status = body();
    finish_standard_output();
    return status;
  } catch (const std::exception& error) {
    print_error(program, error.what());
    return 1;
  }
}

int run_program(const char* program, int argc, char** argv, const ParseArguments& parse,
                const std::function<int()>& body) {
  const auto parse_and_print = [&](int count, char** own) { return parse(count, own, true); };
  return run_program(program, [&] { return run_with_kokkos(argc, argv, parse_and_print, body); });
}

int run_program_on_ranks(const char* program, int argc, char** argv, const ParseArguments& parse,
                         const std::function<int(const MpiSession&)>& body) {
  return run_mpi_program(program, argc, argv, [&](const MpiSession& session) {
    const bool first = session.rank() == 0;
    const auto parse_or_refuse = [&](int count, char** own) -> std::optional<int> {
      std::optional<int> status;
      std::string reason;
      try {
        status = parse(count, own, first);
      } catch (const std::exception& error) {
        reason = error.what();
      }
      const auto transport = make_mpi(MPI_COMM_WORLD);
      require_same_on_all_ranks(*transport, "build", build_text());  // before options, which another build may not know
      const std::string refusal = refusal_on_any_rank(*transport, reason);
      if (refusal.empty()) return status;
      if (first) print_error(program, refusal);
      return 2;
    };
    return run_with_kokkos(argc, argv, parse_or_refuse, [&] { return body(session); });
  });
}

}  // namespace gradcomp
