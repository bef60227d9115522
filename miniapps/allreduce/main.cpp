// gradcomp-allreduce: the reduction alone, over sizes and methods, in the manner of nccl-tests.
#include <CLI/CLI.hpp>

#include "gradcomp/comm/agree.hpp"
#include "gradcomp/comm/mpi_session.hpp"
#include "gradcomp/comm/throttled.hpp"
#include "gradcomp/comm/transports/mpi.hpp"
#include "gradcomp/core/arguments.hpp"
#include "gradcomp/core/version_config.hpp"
#include "gradcomp/exchange/allreduce_benchmark.hpp"
#include "gradcomp/exchange/methods_page.hpp"
#include "gradcomp/measure/density.hpp"
#include "gradcomp/report/context.hpp"
#include "gradcomp/report/progress.hpp"
#include "gradcomp/report/result_file.hpp"
#include "gradcomp/report/table.hpp"

using namespace gradcomp;

namespace {

struct CommandLine {
  std::string methods =
      "fp32,fp16,bf16,top_k:ratio=0.01,random_k:ratio=0.01,sidco:ratio=0.01,qsgd:bits=4,powersgd:rank=4";
  std::vector<index_t> sizes = {1 << 10, 1 << 14, 1 << 18, 1 << 22};
  ReductionOptions reduction;
  double density_tolerance = 0;
  std::string transport = "mpi", link, output;
  bool list = false;
};

CommandLine parse(int argc, char** argv, int rank, int& exit_status) {
  CommandLine line;
  CLI::App app{
      "Reduces one gradient over all ranks with each method and size: time, bandwidth, bytes, and a check of the "
      "answer.",
      "gradcomp-allreduce"};
  app.set_version_flag("--version", "gradcomp-allreduce " GRADCOMP_VERSION);
  app.set_config("--config", "", "read options from a TOML file");
  app.option_defaults()->always_capture_default();
  app.add_option("--sizes", line.sizes, "numbers of gradient elements")
      ->delimiter(',')
      ->check(CLI::Range(index_t{0}, index_t{1} << 31));
  app.add_option("--methods", line.methods, "comma-separated method specs, see --list");
  app.add_option("--repetitions", line.reduction.repetitions, "timed repetitions of each case")
      ->check(CLI::Range(index_t{1}, index_t{1000000}));
  app.add_option("--untimed", line.reduction.untimed, "repetitions before the timed ones")
      ->check(CLI::Range(index_t{0}, index_t{1000000}));
  const auto renamed = [](const std::string&) { throw CLI::ValidationError("--warmup is now called --untimed"); };
  app.add_option_function<std::string>("--warmup", renamed)->group("");  // hidden
  app.add_option("--density-tolerance", line.density_tolerance,
                 "fail when a method's median of achieved / target density leaves 1 +- this; 0: off")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--seed", line.reduction.seed, "of the gradients and random compressors");
  app.add_option("--transport", line.transport, "what carries messages; see gradcomp-train --list=transports");
  app.add_option("--link", line.link, "emulate a link, e.g. 100Mbit/s,50us; default: the real one");
  app.add_option("--output", line.output, "result file (JSON)");
  app.add_flag("--list", line.list, "list the methods");
  app.footer("Also takes Kokkos' own options (--kokkos-help).");
  exit_status = -1;
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    exit_status = rank == 0 ? app.exit(success) : 0;
  } catch (const CLI::ParseError& error) {
    if (rank == 0) fmt::print(stderr, "gradcomp-allreduce: error: {}\n", error.what());
    exit_status = 2;
  }
  return line;
}

/// One case: its row in the file and its line in the table.
void record(const MethodSpec& spec, index_t elements, int ranks, const ReductionResult& r, report::ResultFile& file,
            report::Table& table) {
  const double dense = 4.0 * static_cast<double>(elements);
  report::Row row(fmt::format("allreduce/{}/{}", spec.label, elements));
  row.method(spec.text, spec.canonical, spec.label)
      .bytes(static_cast<double>(r.report.payload_bytes), static_cast<double>(r.report.header_bytes),
             static_cast<double>(r.report.wire_bytes), dense)
      .reduction(elements, ranks, r.times_ms, r.wrong)
      .density(r.density_ratio)
      .set("relative_error", r.relative_error);
  file.add(row);
  const auto& json = row.json();
  table.row({report::format_bytes(dense), spec.label, report::format_bytes(static_cast<double>(r.report.payload_bytes)),
             report::format_number(report::quantile(r.times_ms, 0.5)),
             report::format_number(report::quantile(r.times_ms, 0.95)),
             report::format_number(json.at("alg_bw_gb_s").get<double>()),
             report::format_number(json.at("bus_bw_gb_s").get<double>()), report::format_number(r.relative_error),
             fmt::format("{}", r.wrong)});
}

int run(const CommandLine& line, const MpiSession& session) {
  const Exec exec;
  const auto control = make_transport(line.transport, MPI_COMM_WORLD);
  report::Json options = {{"methods", line.methods},
                          {"sizes", line.sizes},
                          {"repetitions", line.reduction.repetitions},
                          {"untimed", line.reduction.untimed},
                          {"density_tolerance", line.density_tolerance},
                          {"transport", line.transport},
                          {"link", line.link}};
  require_same_on_all_ranks(*control, "options", options.dump());
  std::vector<MethodSpec> methods;
  std::unique_ptr<Transport> carrier = control->split(0, session.rank());
  report::LinkInfo link = report::real_link();
  std::unique_ptr<report::ResultFile> file;
  run_collectively(*control, [&] {
    methods = parse_methods(line.methods);
    if (!line.link.empty()) {
      const Link emulated = parse_link(line.link);
      link = {"emulated", emulated.text(), emulated.bits_per_second / 1e6, emulated.latency_seconds * 1e6};
      carrier = make_throttled(std::move(carrier), emulated);
    }
    const report::RunInfo info{"gradcomp-allreduce", session.size(), carrier->name(), link, options,
                               {line.reduction.seed}};
    file = std::make_unique<report::ResultFile>(session.rank() == 0 ? line.output : "", report::make_context(info));
  });

  report::Table table({"size", "method", "payload", "time ms\nmedian", "p95", "algbw\nGB/s", "busbw\nGB/s",
                       "relative\nerror", "#wrong"});
  report::ProgressBar bar(session.rank() == 0);
  bar.phase("reduce", static_cast<index_t>(methods.size() * line.sizes.size()));
  index_t wrong = 0;
  std::vector<std::string> failures;
  for (const index_t elements : line.sizes) {
    for (const auto& method : methods) {
      const auto result = measure_reduction(exec, method.text, elements, *carrier, *control, line.reduction);
      wrong += result.wrong;
      record(method, elements, session.size(), result, *file, table);
      const auto failure = density_failure(fmt::format("{}, {} elements", method.label, elements),
                                           density_median(*control, result.density_ratio), line.density_tolerance);
      if (failure) failures.push_back(*failure);
      bar.advance();
    }
  }
  bar.clear();
  if (session.rank() == 0) {
    fmt::print("{} ranks over {}\n", session.size(), carrier->name());
    table.print();
    for (const auto& failure : failures) file->fail(failure);
    if (wrong == 0) {
      file->write();
      for (const auto& failure : failures) fmt::print(stderr, "gradcomp-allreduce: error: {}\n", failure);
    } else {
      fmt::print(stderr, "gradcomp-allreduce: error: {} elements are wrong; no result file is written\n", wrong);
    }
  }
  return wrong == 0 && failures.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return run_mpi_program("gradcomp-allreduce", argc, argv, [&](const MpiSession& session) {
    Arguments arguments(argc, argv);
    const Kokkos::ScopeGuard kokkos(arguments.kokkos_argc, arguments.kokkos_argv());
    int exit_status = -1;
    const CommandLine line = parse(arguments.own_argc, arguments.own_argv(), session.rank(), exit_status);
    if (exit_status >= 0) return exit_status;
    if (line.list) {
      if (session.rank() == 0) fmt::print("{}", methods_text());
      return 0;
    }
    return run(line, session);
  });
}
