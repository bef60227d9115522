// gradcomp-train: trains one model data-parallel with one or many methods, including controls.
#include <algorithm>

#include "command_line.hpp"
#include "describe.hpp"
#include "gradcomp/comm/agree.hpp"
#include "gradcomp/comm/mpi_session.hpp"
#include "gradcomp/comm/queued.hpp"
#include "gradcomp/comm/transports/mpi.hpp"
#include "gradcomp/core/atomic_file.hpp"
#include "gradcomp/data/open_task.hpp"
#include "gradcomp/measure/density.hpp"
#include "gradcomp/measure/machine.hpp"
#include "gradcomp/method/methods_page.hpp"
#include "gradcomp/method/spec.hpp"
#include "gradcomp/nn/make_model.hpp"
#include "gradcomp/nn/networks/shapes.hpp"
#include "gradcomp/program/program.hpp"
#include "gradcomp/report/context.hpp"
#include "gradcomp/report/progress.hpp"
#include "gradcomp/report/result_file.hpp"
#include "gradcomp/train/comparison.hpp"
#include "gradcomp/train/gradient_dump.hpp"
#include "gradcomp/train/options_json.hpp"
#include "outcomes.hpp"
#include "tune.hpp"

using namespace gradcomp;

namespace {

/// The input, opened and parsed on every rank before any rank starts to train, so that errors appear at once.
struct Prepared {
  std::vector<MethodSpec> methods;
  std::vector<train::Contender> contenders;
  std::vector<std::uint64_t> seeds;
  std::unique_ptr<data::Task> task;         ///< null if the job only describes the model
  std::unique_ptr<nn::Model<float>> model;  ///< null if the job only describes the model
  Layout shapes;                            ///< only if the job only describes the model
  std::unique_ptr<Transport> carrier;
  std::unique_ptr<train::EmulatedLinks> links;  ///< null if the link is real
  std::unique_ptr<train::JobEnergy> energy;     ///< null if the job only describes or tunes
  std::unique_ptr<report::ResultFile> file;
};

report::Json energy_context(const train::JobEnergy* energy) {
  if (energy == nullptr) return nullptr;
  report::Json json{{"source", energy->source()}, {"devices", energy->devices()}};
  if (!energy->reason().empty()) json["reason"] = energy->reason();
  return json;
}

/// The tensors of the job's model: those of a published model, or those that the model has for the job's data.
Layout shapes_of(const train::Options& o) {
  const auto names = nn::shape_names(), trained = nn::model_names();
  const auto has = [&](const auto& list) { return std::find(list.begin(), list.end(), o.model) != list.end(); };
  if (has(names) || !has(trained)) return nn::model_shapes(o.model);
  return nn::make_model<float>(o.model, data::open_task(o.data, o.length)->shape(), 1)->layout();
}

Prepared prepare(const CommandLine& line, const MpiSession& session, Transport& control) {
  const train::Options& o = line.train;
  Prepared p;
  p.carrier = control.split(0, session.rank());
  require_same_on_all_ranks(control, "options", train::to_json(o).dump());
  if (!line.describe && !o.tune) {
    p.energy = std::make_unique<train::JobEnergy>(device_energy(), machine_info(true).host_name, control);
  }
  const double slowed_by = o.link.empty() ? 1 : train::ranks_per_core(control, machine_info(true));
  run_collectively(control, [&] {
    if (session.rank() == 0) check_writable(o.output);
    p.methods = parse_methods(o.method_list());
    train::check_dumps(o, p.methods, session.rank());
    report::LinkInfo link = report::real_link();
    if (!o.link.empty()) {
      p.links = std::make_unique<train::EmulatedLinks>(o.link, slowed_by);
      train::check_links(o, *p.links);
      link = train::link_info(*p.links);
      p.carrier = p.links->wrap(std::move(p.carrier), o.timeout);
    }
    report::Json options = train::to_json(o);
    p.contenders = train::contenders(o, p.methods);
    train::check_bucket_sweep(o);
    for (index_t i = 0; i < o.seeds; ++i) p.seeds.push_back(o.seed + static_cast<std::uint64_t>(i));
    if (line.describe) {
      p.shapes = shapes_of(o);
    } else {
      p.task = data::open_task(o.data, o.length);
      train::target_value(o.target, train::Metric(p.task->shape().kind));
      train::check_checkpoints(o, session.rank());
      p.task->steps_per_epoch(o.shard(session.rank(), session.size()));  // throws if the set is too small
      options["data"] = p.task->name();                                  // without the user's path
      options["data_crc"] = p.task->crc();
      p.model = nn::make_model<float>(o.model, p.task->shape(), static_cast<int>(o.batch));
      if (!o.rates.empty() && !o.tune) {
        const train::Rates rates = train::read_rates(o, *p.task, session.size());
        rates.apply(p.contenders, o.rates);
        train::take_buckets(p.contenders, rates, o);
      }
    }
    const report::RunInfo info{
        "gradcomp-train", session.size(), p.carrier->name(), link, options, p.seeds, energy_context(p.energy.get())};
    p.file = std::make_unique<report::ResultFile>(session.rank() == 0 ? o.output : "", report::make_context(info));
  });
  require_same_on_all_ranks(control, "data set", p.task ? p.task->crc() : "");
  return p;
}

int run(const CommandLine& line, const MpiSession& session) {
  const Exec exec;
  const train::Options& o = line.train;
  auto control = make_transport(o.transport, MPI_COMM_WORLD);
  Prepared p = prepare(line, session, *control);
  const bool first = session.rank() == 0;
  if (line.describe) {
    if (first) {
      describe(p.shapes, p.methods, o, *p.file);
      p.file->write();
    }
    return 0;
  }

  control = make_limited(std::move(control), o.timeout);  // also for evaluations and for the meetings between steps
  report::ProgressBar bar(first);
  if (o.tune) {
    tune(exec, {o, *p.task, *p.model, *p.carrier, *control, nullptr, p.links.get()}, p.contenders, bar);
    return 0;
  }
  if (o.sweep_buckets) {
    bar.phase("time the controls' buckets", 3);
    train::Rates timed(train::Metric(p.task->shape().kind), {}, {}, train::sweep_conditions(o));
    const train::Job job{o, *p.task, *p.model, *p.carrier, *control, nullptr, p.links.get()};
    train::sweep_buckets(exec, job, timed, [&] { bar.advance(); });
    train::take_buckets(p.contenders, timed, o);
  }
  bar.phase("train", o.seeds * o.steps * std::ssize(p.contenders));
  std::vector<Repeat> repeats;
  std::vector<std::string> failures;
  bool differ = false, diverged = false;
  for (const std::uint64_t seed : p.seeds) {
    train::Options options = o;
    options.seed = seed;
    const train::Job job{options, *p.task, *p.model, *p.carrier, *control, p.energy.get(), p.links.get()};
    const std::string cut = describe(buckets_of(p.model->layout(), options.strategy_options().exchange));
    const train::Checkpoints checkpoints(
        options, train::checkpoint_settings(options, *p.task, p.contenders, session.size(), cut));
    auto results = train::compare(exec, job, p.contenders, [&](const std::string&) { bar.advance(); }, &checkpoints);
    for (const auto& r : results) {
      const auto failure =
          density_failure(r.contender.spec.label, density_median(*control, r.density_ratio), o.density_tolerance);
      if (failure) failures.push_back(*failure);
      differ = differ || !r.replicas_equal;
      diverged = diverged || r.diverged_at;
    }
    repeats.push_back({seed, std::move(results)});
  }
  const train::JobFacts facts = job_facts(o, *p.task, p.links.get());
  add_rows(*p.file, repeats, facts);
  bar.clear();
  if (first) {
    fmt::print("{} on {}, {} ranks x batch {}, {} steps, over {}\n", o.model, p.task->name(), session.size(), o.batch,
               o.steps, o.link.empty() ? p.carrier->name() : "an emulated link, " + o.link);
    print(repeats, facts, o.output);
    for (const auto& failure : failures) p.file->fail(failure);
    p.file->write();
    for (const auto& failure : failures) fmt::print(stderr, "gradcomp-train: error: {}\n", failure);
    if (differ) fmt::print(stderr, "gradcomp-train: error: replicas differ between ranks; see replica_hash_equal\n");
  }
  return differ || !failures.empty() ? 1 : diverged ? 3 : 0;
}

/// Names, summaries and options of a kind.
template <class Entry>
std::string entries_text(const std::vector<Entry>& entries) {
  std::string page;
  for (const Entry& entry : entries) {
    page += fmt::format("{}\n    {}\n", entry.name, entry.summary);
    for (const Parameter& p : entry.parameters) {
      page += fmt::format("    {:<20} {} (default {}; {})\n", p.name, p.help, p.default_value, p.allowed());
    }
  }
  return page;
}

std::string list(const std::string& what) {
  if (what == "markdown") return methods_markdown();
  if (what == "text") return methods_text();
  if (what == "strategies") return entries_text(all_strategies());
  if (what == "samplers") return entries_text(all_samplers());
  return entries_text(program_transports());
}

}  // namespace

int main(int argc, char** argv) {
  CommandLine line;
  const auto parse = [&](int count, char** own, bool prints) { return parse_command_line(count, own, prints, line); };
  return run_program_on_ranks("gradcomp-train", argc, argv, parse, [&](const MpiSession& session) {
    if (!line.list.empty()) {
      if (session.rank() == 0) fmt::print("{}", list(line.list));
      return 0;
    }
    return run(line, session);
  });
}
