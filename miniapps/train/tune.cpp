#include "tune.hpp"

#include "gradcomp/comm/agree.hpp"
#include "gradcomp/core/atomic_file.hpp"
#include "gradcomp/report/table.hpp"

using namespace gradcomp;

namespace {

/// A line per method: the chosen rate, its quality, and the cost of all trials. If the rate is the lowest or highest
/// that was tried, it is marked as an edge, because a better one may lie beyond.
report::Table to_table(const train::Rates& rates, const std::vector<train::Contender>& contenders,
                       const train::Metric& metric) {
  report::Table table({"method", "default\nrate", "chosen\nrate", "validation\n" + metric.name, "trials", "seconds"});
  for (const auto& c : contenders) {
    if (c.is_bound()) continue;
    const auto& trials = rates.trials(c.spec.canonical);
    const train::Trial* best = rates.best(c.spec.canonical);
    double seconds = 0;
    for (const auto& trial : trials) seconds += trial.seconds;
    const bool edge = rates.at_edge(c.spec.canonical);
    table.row({c.spec.label, report::format_number(c.learning_rate),
               best != nullptr ? report::format_number(best->rate) + (edge ? " (edge)" : "") : "none: all diverged",
               best != nullptr ? metric.text(best->quality) : "-", fmt::format("{}", trials.size()),
               report::format_number(seconds)});
  }
  return table;
}

}  // namespace

void tune(const Exec& exec, const train::Job& job, const std::vector<train::Contender>& contenders,
          report::ProgressBar& bar) {
  const std::string& path = job.options.rates;
  std::unique_ptr<train::Rates> rates;
  run_collectively(job.control, [&] {
    rates = std::make_unique<train::Rates>(train::read_rates(job.options, job.task, job.control.size()));
    if (job.control.rank() == 0) check_writable(path);
  });
  require_same_on_all_ranks(job.control, "--rates " + path, rates->text());
  bar.phase("tune", train::trial_count(job.options, contenders) + (job.options.controls ? 3 : 0));
  const auto added = [&] {
    run_collectively(job.control, [&] {
      if (job.control.rank() == 0) write_atomically(path, rates->text());
    });
    bar.advance();
  };
  train::tune(exec, job, contenders, *rates, added);
  if (job.options.controls) train::sweep_buckets(exec, job, *rates, added);
  bar.clear();
  if (job.control.rank() != 0) return;
  to_table(*rates, contenders, train::Metric(job.task.shape().kind)).print();
  for (const auto& [control, kib] : rates->best_buckets()) {
    fmt::print("{}: fastest in buckets of {}\n", control, kib == 0 ? "the model's sizes" : fmt::format("{} KiB", kib));
  }
}
