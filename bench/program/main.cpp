// gradcomp-bench: every compressor and the limits of the machine, as Google Benchmark cases.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <regex>

#include "affinity.hpp"
#include "case.hpp"
#include "gradcomp/core/atomic_file.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/core/standard_output.hpp"
#include "gradcomp/measure/memory.hpp"
#include "gradcomp/program/arguments.hpp"
#include "gradcomp/program/huge_pages.hpp"
#include "gradcomp/program/program.hpp"
#include "gradcomp/report/context.hpp"
#include "gradcomp/report/result_file.hpp"
#include "reporter.hpp"

namespace gradcomp::bench {
namespace {

/// The names that match the filter. Throws Error if the expression is wrong or if no name matches, because a run
/// without cases must not look like a success.
std::vector<std::string> matching(const std::vector<std::string>& names, const std::string& filter) {
  try {
    const std::regex expression(filter, std::regex::extended);
    std::vector<std::string> kept;
    std::copy_if(names.begin(), names.end(), std::back_inserter(kept),
                 [&](const auto& name) { return std::regex_search(name, expression); });
    require(!kept.empty(), "no case matches --filter '{}'; --list shows all cases", filter);
    return kept;
  } catch (const std::regex_error&) {
    throw Error(fmt::format("--filter '{}' is not a regular expression", filter));
  }
}

std::vector<std::string> add_all_cases(Session& session) {
  session.inputs = make_inputs(session.options);
  session.memory_bytes = session.options.memory_gb > 0 ? 1e9 * session.options.memory_gb : free_bytes(session.exec);
  add_machine_cases(session);
  if (!session.options.machine) {
    add_model_cases(session);
    add_kernel_cases(session);
    add_compressor_cases(session);
  }
  session.explain_misfits();
  std::vector<std::string> names;
  for (const auto& item : session.cases) names.push_back(item.name);
  return matching(names, session.options.filter);
}

/// The context; `places` must be determined before Kokkos starts, because Kokkos may bind this thread.
report::Json context_of(const Session& session, const report::Json& places) {
  report::RunInfo info;
  info.program = "gradcomp-bench";
  info.options = session.options.json();
  info.seeds = {session.options.seed};
  auto context = report::make_context(info);
  context["gradcomp"]["affinity"] = places;
  return context;
}

int run(int argc, char** argv) {
  BenchOptions options;
  Arguments arguments(argc, argv);
  if (const auto status = parse(arguments.own_argc, arguments.own_argv(), options)) return *status;
  arguments.set_threads(options.threads);
  const auto places = affinity();
  int only_name = 1;
  Kokkos::ScopeGuard kokkos(arguments.kokkos_argc, arguments.kokkos_argv());
  ask_for_huge_pages();
  benchmark::Initialize(&only_name, argv);
  Session session;
  session.options = options;
  if (!options.list) check_writable(options.output);

  const auto names = add_all_cases(session);
  for (const auto& line : session.left_out) fmt::print(options.list ? stderr : stdout, "left out: {}\n", line);
  if (options.list) {
    for (const auto& name : names) fmt::print("{}\n", name);
    return 0;
  }
  auto context = context_of(session, places);
  if (!session.left_out.empty()) context["gradcomp"]["left_out"] = session.left_out;
  report::ResultFile file(options.output, context);
  std::size_t width = 0;
  for (const auto& name : names) width = std::max(width, name.size());
  Reporter reporter(session, register_cases(session, names), width);
  benchmark::RunSpecifiedBenchmarks(&reporter, ".");
  for (const auto& row : session.rows) file.add(row);
  for (const auto& failure : session.failures) file.fail(failure);
  if (!session.rows.empty()) file.write();
  for (const auto& failure : session.failures) print_error("gradcomp-bench", failure);
  return session.failures.empty() ? 0 : 1;
}

}  // namespace
}  // namespace gradcomp::bench

int main(int argc, char** argv) {
  return gradcomp::run_program("gradcomp-bench", [&] { return gradcomp::bench::run(argc, argv); });
}
