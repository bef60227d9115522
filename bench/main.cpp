// gradcomp-bench: every compressor and the limits of the machine, as Google Benchmark cases.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <iterator>
#include <regex>
#include <string_view>

#include "case.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/report/context.hpp"
#include "gradcomp/report/result_file.hpp"
#include "reporter.hpp"

namespace gradcomp::bench {
namespace {

/// The names that the filter keeps. Throws Error for a bad expression and when none is left: a run of nothing must not
/// look like a success.
std::vector<std::string> matching(const std::vector<std::string>& names, const std::string& filter) {
  try {
    const std::regex expression(filter, std::regex::extended);
    std::vector<std::string> kept;
    std::copy_if(names.begin(), names.end(), std::back_inserter(kept),
                 [&](const auto& name) { return std::regex_search(name, expression); });
    require(!kept.empty(), "no case matches --filter '{}'; --list shows all", filter);
    return kept;
  } catch (const std::regex_error&) {
    throw Error(fmt::format("--filter '{}' is no regular expression", filter));
  }
}

int run(int argc, char** argv) {
  // Kokkos and Google Benchmark would print helps of their own before ours (--kokkos-help shows Kokkos').
  int only_name = 1;
  const bool help = std::any_of(argv, argv + argc, [](const char* a) { return std::string_view(a) == "--help"; });
  Kokkos::ScopeGuard kokkos(help ? only_name : argc, argv);
  benchmark::Initialize(&only_name, argv);
  Session session;
  if (const auto status = parse(argc, argv, session.options)) return *status;

  report::RunInfo info;
  info.program = "gradcomp-bench";
  info.options = session.options.json();
  info.seeds = {session.options.seed};
  report::ResultFile file(session.options.list ? "" : session.options.output, report::make_context(info));

  add_machine_cases(session);
  add_model_cases(session);
  add_compressor_cases(session);
  const auto names = matching(session.names, session.options.filter);
  if (session.options.list) {
    for (const auto& name : names) fmt::print("{}\n", name);
    return 0;
  }
  std::size_t width = 0;
  for (const auto& name : names) width = std::max(width, name.size());
  Reporter reporter(session, names.size(), width);
  benchmark::RunSpecifiedBenchmarks(&reporter, session.options.filter);
  if (session.failed) throw Error("some answers were wrong, see above; no results written");
  for (const auto& row : session.rows) file.add(row);
  file.write();
  return 0;
}

}  // namespace
}  // namespace gradcomp::bench

int main(int argc, char** argv) {
  try {
    return gradcomp::bench::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "gradcomp-bench: error: {}\n", error.what());
    return 1;
  }
}
