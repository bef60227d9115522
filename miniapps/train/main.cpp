// gradcomp-train: trains one model data-parallel with one or many methods, including controls.
#include "command_line.hpp"
#include "gradcomp/comm/agree.hpp"
#include "gradcomp/core/atomic_file.hpp"
#include "gradcomp/core/standard_output.hpp"
#include "gradcomp/measure/density.hpp"
#include "gradcomp/measure/machine.hpp"
#include "gradcomp/method/spec.hpp"
#include "gradcomp/program/program.hpp"
#include "gradcomp/report/context.hpp"
#include "gradcomp/report/progress.hpp"
#include "gradcomp/report/result_file.hpp"
#include "gradcomp/train/batch_dump.hpp"
#include "gradcomp/train/comparison.hpp"
#include "gradcomp/train/gradient_dump.hpp"
#include "gradcomp/train/options_json.hpp"
#include "gradcomp/train/target.hpp"
#include "gradcomp/tune/bucket_sweep.hpp"
#include "outcomes.hpp"
#include "shared/training_job.hpp"

using namespace gradcomp;

namespace {

report::Json energy_context(const train::JobEnergy& energy) {
  report::Json json{{"source", energy.source()}, {"devices", energy.devices()}};
  if (!energy.reason().empty()) json["reason"] = energy.reason();
  return json;
}

/// The context of the result file.
report::Json context_of(const train::Options& o, const TrainingJob& p, const train::JobEnergy& energy,
                        const std::vector<std::uint64_t>& seeds) {
  report::Json options = train::to_json(o);
  options["data"] = p.task->name();  // without the user's path
  options["data_crc"] = p.task->crc();
  const report::LinkInfo link = p.links ? train::link_info(*p.links) : report::real_link();
  return report::make_context(
      {"gradcomp-train", p.control->size(), p.carrier->name(), link, options, seeds, energy_context(energy)});
}

int run(const train::Options& o, const MpiSession& session) {
  const Exec exec;
  TrainingJob p(o, session);
  const bool first = session.rank() == 0;
  train::JobEnergy energy(device_energy(), machine_info(true).host_name, *p.control);
  std::vector<std::uint64_t> seeds;
  for (index_t i = 0; i < o.seeds; ++i) seeds.push_back(o.seed + static_cast<std::uint64_t>(i));
  std::unique_ptr<report::ResultFile> file;
  run_collectively(*p.control, [&] {
    const auto methods = parse_methods(o.method_list());
    train::check_dumps(o, methods, session.rank());
    train::check_batch_dump(o, methods, session.rank());
    train::target_value(o.target, train::Metric(p.task->shape().kind));
    train::check_checkpoints(o, session.rank());
    if (!o.rates.empty()) {
      const tune::Rates rates = tune::read_rates(o, *p.task, session.size());
      rates.apply(p.contenders, o.rates);
      tune::take_forms(p.contenders, rates, o);
    }
    file = std::make_unique<report::ResultFile>(first ? o.output : "", context_of(o, p, energy, seeds));
  });

  report::ProgressBar bar(first);
  bar.phase("train", o.seeds * o.steps * std::ssize(p.contenders));
  std::vector<Repeat> repeats;
  std::vector<std::string> failures;
  bool differ = false, diverged = false;
  for (const std::uint64_t seed : seeds) {
    train::Options options = o;
    options.seed = seed;
    const train::Job job = p.job(options, &energy);
    const std::string cut = describe(buckets_of(p.model->layout(), options.strategy_options().exchange));
    const train::Checkpoints checkpoints(
        options, train::checkpoint_settings(options, *p.task, p.contenders, session.size(), cut));
    auto results = train::compare(exec, job, p.contenders, [&](const std::string&) { bar.advance(); }, &checkpoints);
    for (const auto& r : results) {
      const auto failure =
          density_failure(r.contender.spec.label, density_median(*p.control, r.density_ratio), o.density_tolerance);
      if (failure) failures.push_back(*failure);
      differ = differ || !r.replicas_equal;
      diverged = diverged || r.diverged_at;
    }
    repeats.push_back({seed, std::move(results)});
  }
  const train::JobFacts facts = job_facts(o, *p.task, p.links.get());
  add_rows(*file, repeats, facts);
  bar.clear();
  if (first) {
    for (const auto& failure : failures) file->fail(failure);
    file->write();
    fmt::print("{} on {}\n{} ranks x batch {}, {} steps, over {}\n", o.model, o.data, session.size(), o.batch, o.steps,
               o.link.empty() ? p.carrier->name() : "an emulated link, " + o.link);
    print(repeats, facts, o.output);
    for (const auto& failure : failures) print_error("gradcomp-train", failure);
    if (differ) print_error("gradcomp-train", "replicas differ between ranks; see replica_hash_equal");
  }
  return differ || !failures.empty() ? 1 : diverged ? 3 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  train::Options options;
  const auto parse = [&](int count, char** own, bool prints) {
    return parse_command_line(count, own, prints, options);
  };
  return run_program_on_ranks("gradcomp-train", argc, argv, parse,
                              [&](const MpiSession& session) { return run(options, session); });
}
