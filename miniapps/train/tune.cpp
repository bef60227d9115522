#include "tune.hpp"

#include <cmath>

#include "gradcomp/comm/agree.hpp"
#include "gradcomp/report/result_file.hpp"
#include "gradcomp/report/table.hpp"

using namespace gradcomp;

namespace {

/// A line per method: the rate, its quality, and the cost of all trials. A rate at the edge of the grid is marked.
report::Table to_table(const train::Rates& rates, const std::vector<train::Contender>& contenders,
                       const train::Metric& metric) {
  report::Table table({"method", "default\nrate", "chosen\nrate", "test\n" + metric.name, "trials", "seconds"});
  for (const auto& c : contenders) {
    if (c.is_bound()) continue;
    const auto& trials = rates.trials(c.spec.canonical);
    const train::Trial* best = rates.best(c.spec.canonical);
    double seconds = 0, least = INFINITY, most = 0;
    for (const auto& trial : trials) {
      seconds += trial.seconds;
      least = std::min(least, trial.rate);
      most = std::max(most, trial.rate);
    }
    const bool edge = best != nullptr && (best->rate == least || best->rate == most);
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
    if (job.control.rank() == 0) report::check_writable(path);
  });
  require_same_on_all_ranks(job.control, "--rates " + path, rates->text());
  bar.phase("tune", train::trial_count(contenders));
  train::tune(exec, job, contenders, *rates, [&] {
    run_collectively(job.control, [&] {
      if (job.control.rank() == 0) report::write_atomically(path, rates->text());
    });
    bar.advance();
  });
  bar.clear();
  if (job.control.rank() == 0) to_table(*rates, contenders, train::Metric(job.task.shape().kind)).print();
}
