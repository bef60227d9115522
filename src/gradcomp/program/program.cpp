#include "gradcomp/program/program.hpp"

#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>

#include "gradcomp/comm/agree.hpp"
#include "gradcomp/comm/transports/mpi.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/core/standard_output.hpp"
#include "gradcomp/core/version_config.hpp"
#include "gradcomp/program/arguments.hpp"

namespace gradcomp {
namespace {

int run_with_kokkos(int argc, char** argv, const std::function<std::optional<int>(int, char**)>& parse,
                    const std::function<int()>& body) {
  Arguments arguments(argc, argv);
  const Kokkos::ScopeGuard kokkos(arguments.kokkos_argc, arguments.kokkos_argv());
  if (const auto status = parse(arguments.own_argc, arguments.own_argv())) return *status;
  return body();
}

/// The line that tells why ranks refuse their arguments; empty if none refuses. `own`: the reason of this rank, or an
/// empty text. The line names the first such rank, unless all of them refuse what they share. Collective.
std::string refusal_on_any_rank(const std::string& own) {
  const auto transport = make_mpi(MPI_COMM_WORLD);
  const auto reasons = gather_texts(*transport, own);
  const auto first = std::find_if(reasons.begin(), reasons.end(), [](const auto& text) { return !text.empty(); });
  if (first == reasons.end()) return "";
  const bool everywhere = std::count(reasons.begin(), reasons.end(), *first) == std::ssize(reasons);
  return everywhere ? *first : fmt::format("on rank {}: {}", first - reasons.begin(), *first);
}

}  // namespace

void begin_options(CLI::App& app) {
  app.set_version_flag("--version", app.get_name() + " " GRADCOMP_VERSION);
  app.set_config("--config", "", "read options from a TOML file");
  app.option_defaults()->always_capture_default();
  app.footer("Also takes Kokkos' own options (--kokkos-help).");
}

std::optional<int> parse(CLI::App& app, int argc, char** argv, bool prints) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return prints ? app.exit(success) : 0;
  } catch (const CLI::ParseError& error) {
    throw Error(error.what());
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
    fmt::print(stderr, "{}: error: {}\n", program, error.what());
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
      const std::string refusal = refusal_on_any_rank(reason);
      if (refusal.empty()) return status;
      if (first) fmt::print(stderr, "{}: error: {}\n", program, refusal);
      return 2;
    };
    return run_with_kokkos(argc, argv, parse_or_refuse, [&] { return body(session); });
  });
}

}  // namespace gradcomp
