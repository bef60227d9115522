// gradcomp-tune: finds learning rates and bucket sizes for later trainings, and keeps them in a file.
#include "command_line.hpp"
#include "gradcomp/comm/agree.hpp"
#include "gradcomp/core/atomic_file.hpp"
#include "gradcomp/program/program.hpp"
#include "gradcomp/report/progress.hpp"
#include "gradcomp/report/table.hpp"
#include "gradcomp/tune/bucket_sweep.hpp"
#include "gradcomp/tune/tuning.hpp"
#include "shared/training_job.hpp"

using namespace gradcomp;

namespace {

/// A line per method: the chosen rate, its quality, and the cost of all trials. If the rate is the lowest or highest
/// that was tried, it is marked as an edge, because a better one may lie beyond.
report::Table to_table(const tune::Rates& rates, const std::vector<train::Contender>& contenders,
                       const train::Metric& metric) {
  report::Table table({"method", "lr", "chosen lr", "validation " + metric.name, "trials", "seconds"});
  for (const auto& c : contenders) {
    const auto& trials = rates.trials(c.spec.canonical);
    const tune::Trial* best = rates.best(c.spec.canonical);
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

/// Replaces the file after every trial, so that an interrupted tuning goes on where it stopped.
int run(const tune::Options& o, const MpiSession& session) {
  const Exec exec;
  const TrainingJob p(o.train, session);
  const bool first = session.rank() == 0;
  const std::string& path = o.train.rates;
  std::unique_ptr<tune::Rates> rates;
  run_collectively(*p.control, [&] {
    tune::check_bucket_sweep(o.train);
    rates = std::make_unique<tune::Rates>(tune::read_rates(o, *p.task, session.size()));
    if (first) check_writable(path);
  });
  require_same_on_all_ranks(*p.control, "--rates " + path, rates->text());
  report::ProgressBar bar(first);
  const auto tried = tune::tried(p.contenders);
  bar.phase("tune", (o.buckets_only ? 0 : std::ssize(tried) * o.trials) +
                        (o.train.controls ? std::ssize(tune::dense_forms(p.links == nullptr)) : 0));
  const auto added = [&] {
    run_collectively(*p.control, [&] {
      if (first) write_atomically(path, rates->text());
    });
    bar.advance();
  };
  if (!o.buckets_only) tune::tune(exec, o, p.job(o.train), p.contenders, *rates, added);
  if (o.train.controls) tune::sweep_forms(exec, p.job(o.train), *rates, added);
  bar.clear();
  if (!first) return 0;
  if (!o.buckets_only) to_table(*rates, tried, train::Metric(p.task->shape().kind)).print();
  for (const auto& [control, form] : rates->best_forms()) {
    const std::string size = form.bucket_kib == 0 ? "the model's sizes" : fmt::format("{} KiB", form.bucket_kib);
    const std::string other = form.method == control ? "" : fmt::format(" as {},", form.method);
    fmt::print("{}: fastest{} in buckets of {}\n", control, other, size);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  tune::Options options;
  const auto parse = [&](int count, char** own, bool prints) {
    return parse_command_line(count, own, prints, options);
  };
  return run_program_on_ranks("gradcomp-tune", argc, argv, parse,
                              [&](const MpiSession& session) { return run(options, session); });
}
