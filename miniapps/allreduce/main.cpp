// gradcomp-allreduce: times the reduction alone, for several sizes and methods, as nccl-tests does.
#include <algorithm>

#include "command_line.hpp"
#include "gradcomp/allreduce/numerics.hpp"
#include "gradcomp/comm/agree.hpp"
#include "gradcomp/comm/mpi_session.hpp"
#include "gradcomp/comm/queued.hpp"
#include "gradcomp/comm/throttled.hpp"
#include "gradcomp/comm/transports/mpi.hpp"
#include "gradcomp/core/standard_output.hpp"
#include "gradcomp/measure/density.hpp"
#include "gradcomp/measure/machine.hpp"
#include "gradcomp/measure/memory.hpp"
#include "gradcomp/measure/stopwatch.hpp"
#include "gradcomp/program/program.hpp"
#include "gradcomp/report/context.hpp"
#include "gradcomp/report/progress.hpp"
#include "gradcomp/report/result_file.hpp"
#include "gradcomp/report/table.hpp"
#include "raw.hpp"

using namespace gradcomp;

namespace {

constexpr index_t large = 1 << 24;  ///< elements; of these and more it is said beforehand what they take
constexpr index_t some = 1 << 18;   ///< elements from which on times grow with the size
constexpr int simulated_ranks[] = {2, 8, 32, 128, 512};

report::Table make_table(bool raw, bool wide) {
  std::vector<std::string> header{"method", "size", "payload", "time ms", "algbw GB/s", "busbw GB/s"};
  if (raw) header.emplace_back("raw MPI / ours");
  header.emplace_back("#wrong");
  if (wide) header.insert(header.end(), {"min rank ms", "mean rank ms", "p99 ms", "relative error"});
  return report::Table(header, wide ? 0 : 80);
}

/// Adds the row of one case to the file and its line to the table. `raw_ms`: time of the MPI library's own allreduce;
/// 0: not comparable.
void record(const MethodSpec& spec, index_t elements, int ranks, const ReductionResult& r, double raw_ms,
            const report::Json& simulated, const CommandLine& line, report::ResultFile& file, report::Table& table) {
  const double median = report::quantile(r.times_ms, 0.5), p99 = report::quantile(r.times_ms, 0.99);
  const bool comparable = raw_ms > 0 && median > 0;
  const double dense = 4.0 * static_cast<double>(elements);
  report::Row row(fmt::format("allreduce/{}/{}", spec.label, elements));
  row.method(spec.text, spec.canonical, spec.label)
      .bytes(static_cast<double>(r.report.payload_bytes), static_cast<double>(r.report.header_bytes),
             static_cast<double>(r.report.wire_bytes), dense)
      .reduction(elements, ranks, r.times_ms, r.wrong)
      .density(r.density_ratio)
      .set("relative_error", r.relative_error)
      .set("time_p99_ms", p99)
      .set("rank_time_ms",
           report::Json{
               {"minimum", r.rank_times.minimum}, {"mean", r.rank_times.mean}, {"maximum", r.rank_times.maximum}})
      .set("raw_mpi_ms", comparable ? report::Json(raw_ms) : report::Json(nullptr))
      .set("raw_mpi_ratio", comparable ? report::Json(raw_ms / median) : report::Json(nullptr));
  if (!simulated.empty()) row.set("simulated_error", simulated);
  file.add(row);
  const auto& json = row.json();
  std::vector<std::string> cells{spec.label,
                                 report::format_bytes(dense),
                                 report::format_bytes(static_cast<double>(r.report.payload_bytes)),
                                 report::format_number(median),
                                 report::format_number(json.at("alg_bw_gb_s").get<double>()),
                                 report::format_number(json.at("bus_bw_gb_s").get<double>())};
  if (line.raw) cells.push_back(comparable ? report::format_number(raw_ms / median) : "-");
  cells.push_back(fmt::format("{}", r.wrong));
  if (line.wide) {
    for (const double value : {r.rank_times.minimum, r.rank_times.mean, p99, r.relative_error}) {
      cells.push_back(report::format_number(value));
    }
  }
  table.row(cells);
}

/// The numerics card: relative errors of the mean of each dense method, on these ranks (at the largest size) and by
/// simulation.
class NumericsCard {
 public:
  explicit NumericsCard(int ranks) : m_table(header(ranks)) {}

  /// Adds the line of a dense method; returns {ranks: error of the simulation}, empty if its order is not known.
  report::Json add(const Exec& exec, const MethodSpec& method, double measured, std::uint64_t seed) {
    report::Json errors = report::Json::object();
    if (method.compressor->info().family != Info::Family::control) return errors;
    std::vector<std::string> cells{method.label, report::format_number(measured)};
    for (const int ranks : simulated_ranks) {
      const auto error = simulated_error(exec, method, ranks, seed);
      if (error) errors[std::to_string(ranks)] = *error;
      cells.push_back(report::format_number(error.value_or(NAN)));
    }
    m_table.row(cells);
    m_empty = false;
    return errors;
  }
  void print() const {
    if (m_empty) return;
    fmt::print("\nrelative error of the mean: on these ranks, and by simulation\n");
    m_table.print();
  }

 private:
  static std::vector<std::string> header(int ranks) {
    std::vector<std::string> words{"method", fmt::format("these {}", ranks)};
    for (const int simulated : simulated_ranks) words.push_back(fmt::format("{} ranks", simulated));
    return words;
  }

  report::Table m_table;
  bool m_empty = true;
};

/// What a size takes of the memory that ranks on this machine share: `here` of all `ranks`.
double bytes_here(const std::vector<MethodSpec>& methods, index_t elements, int ranks, int here) {
  double most = 0;
  for (const MethodSpec& method : methods) most = std::max(most, here * reduction_bytes(method, elements, ranks));
  return most;
}

/// The ranks that share memory with this one. Collective.
int ranks_here(Transport& control) {
  const std::string own = machine_info(true).host_name;
  const auto hosts = gather_texts(control, own);
  return device_is_host ? static_cast<int>(std::count(hosts.begin(), hosts.end(), own)) : 1;
}

int run(const CommandLine& line, const MpiSession& session) {
  const Exec exec;
  auto control = make_transport(line.transport, MPI_COMM_WORLD);
  report::Json options = {{"methods", line.methods},
                          {"reducers", line.reducers},
                          {"sizes", line.sizes},
                          {"repetitions", line.reduction.repetitions},
                          {"untimed", line.reduction.untimed},
                          {"density_tolerance", line.density_tolerance},
                          {"transport", line.transport},
                          {"timeout", line.reduction.limit_seconds},
                          {"link", line.link},
                          {"raw", line.raw},
                          {"numerics", line.numerics}};
  require_same_on_all_ranks(*control, "options", options.dump());
  const int here = ranks_here(*control);
  const double memory = free_bytes(exec);
  std::vector<MethodSpec> methods;
  std::unique_ptr<Transport> carrier = control->split(0, session.rank());
  report::LinkInfo link = report::real_link();
  std::unique_ptr<report::ResultFile> file;
  run_collectively(*control, [&] {
    methods = methods_with(line.methods, line.reducers);
    for (const index_t elements : line.sizes) {
      const double bytes = bytes_here(methods, elements, session.size(), here);
      require(bytes <= memory,
              "{} elements would take about {} of memory for {} on a machine with {} free; allowed: at most {}",
              elements, report::format_bytes(bytes), here == 1 ? "1 rank" : fmt::format("{} ranks", here),
              report::format_bytes(memory), static_cast<index_t>(static_cast<double>(elements) * memory / bytes));
    }
    if (!line.link.empty()) {
      const Link emulated = parse_link(line.link);
      link = {"emulated", emulated.text(), emulated.bits_per_second / 1e6, emulated.latency_seconds * 1e6};
      carrier = make_throttled(std::move(carrier), emulated, line.reduction.limit_seconds);
    }
    const report::RunInfo info{"gradcomp-allreduce", session.size(), carrier->name(), link, options,
                               {line.reduction.seed}};
    file = std::make_unique<report::ResultFile>(session.rank() == 0 ? line.output : "", report::make_context(info));
  });

  control = make_limited(std::move(control), line.reduction.limit_seconds);

  report::Table table = make_table(line.raw, line.wide);
  NumericsCard card(session.size());
  report::ProgressBar bar(session.rank() == 0);
  bar.phase("reduce", static_cast<index_t>(methods.size() * line.sizes.size()));
  index_t wrong = 0;
  std::vector<std::string> failures;
  const auto seconds_of = [](const auto& work) {
    const double begin = now_seconds();
    work();
    return now_seconds() - begin;
  };
  double seconds_per_element = 0;  // of the last size of which times tell something
  const auto announce = [&](index_t elements) {
    if (seconds_per_element == 0) {
      const double seconds = seconds_of([&] {
        for (const auto& method : methods)
          measure_reduction(exec, method.text, some, *carrier, *control, line.reduction);
      });
      seconds_per_element = seconds / some;
    }
    if (session.rank() != 0) return;
    bar.clear();
    fmt::print(stderr, "gradcomp-allreduce: {} elements take about {:.2g} s, and {} of {} of memory on this machine\n",
               elements, seconds_per_element * static_cast<double>(elements),
               report::format_bytes(bytes_here(methods, elements, session.size(), here)), report::format_bytes(memory));
  };
  const auto measure = [&](index_t elements) {
    const double raw_ms = line.raw ? raw_allreduce_ms(elements, line.reduction) : 0;
    for (const auto& method : methods) {
      const auto result = measure_reduction(exec, method.text, elements, *carrier, *control, line.reduction);
      wrong += result.wrong;
      const bool last = line.numerics && elements == *std::max_element(line.sizes.begin(), line.sizes.end());
      const auto simulated = last ? card.add(exec, method, result.relative_error, line.reduction.seed) : report::Json();
      record(method, elements, session.size(), result, raw_ms, simulated, line, *file, table);
      const auto failure = density_failure(fmt::format("{}, {} elements", method.label, elements),
                                           density_median(*control, result.density_ratio), line.density_tolerance);
      if (failure) failures.push_back(*failure);
      bar.advance();
    }
  };
  for (const index_t elements : line.sizes) {
    if (elements >= large) announce(elements);
    const double seconds = seconds_of([&] { measure(elements); });
    if (elements >= some) seconds_per_element = seconds / static_cast<double>(elements);
  }
  bar.clear();
  if (session.rank() == 0) {
    for (const auto& failure : failures) file->fail(failure);
    if (wrong == 0) file->write();
    fmt::print("{} ranks over {}\n", session.size(), carrier->name());
    table.print();
    card.print();
    for (const auto& failure : failures) print_error("gradcomp-allreduce", failure);
    if (wrong > 0) {
      print_error("gradcomp-allreduce", fmt::format("{} elements are wrong; no result file is written", wrong));
    }
  }
  return wrong == 0 && failures.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CommandLine line;
  const auto parse = [&](int count, char** own, bool prints) { return parse_command_line(count, own, prints, line); };
  return run_program_on_ranks("gradcomp-allreduce", argc, argv, parse,
                              [&](const MpiSession& session) { return run(line, session); });
}
