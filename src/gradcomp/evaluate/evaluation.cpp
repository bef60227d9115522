#include "gradcomp/evaluate/evaluation.hpp"

#include <algorithm>
#include <list>
#include <map>
#include <set>
#include <utility>

#include "gradcomp/core/atomic_file.hpp"
#include "gradcomp/data/files.hpp"
#include "gradcomp/data/formats/npy.hpp"
#include "gradcomp/evaluate/gradient_file.hpp"
#include "gradcomp/evaluate/record.hpp"
#include "gradcomp/measure/density.hpp"
#include "gradcomp/method/spec.hpp"

namespace gradcomp::evaluate {
namespace {

/// STREAM_LABEL, with which the names of dumped files begin.
std::string dump_name(const Job& job, const MethodSpec& method) {
  return data::file_name_part(job.stream->name() + "_" + method.label);
}

/// Throws Error if two messages would be dumped to the same files.
void check_dumps(const Options& options, const std::vector<Job>& jobs) {
  if (options.dump_folder.empty()) return;
  std::map<std::string, std::string> owners;
  for (const Job& job : jobs) {
    for (const MethodSpec& method : parse_methods(options.method_list())) {
      const std::string who = fmt::format("method '{}' on '{}'", method.label, job.stream->name());
      const auto [found, added] = owners.emplace(dump_name(job, method), who);
      require(added, "--dump: {} and {} would write the same files; give one another label=...", found->second, who);
    }
  }
  data::require_writable_folder(options.dump_folder);
}

/// FOLDER/STREAM_LABEL[_stepSTEP].bin and _decoded.npy: the last step's message and what is decoded from it.
void dump(const Options& options, const Job& job, const MethodEvaluation& evaluation, index_t step) {
  const std::string name = dump_name(job, evaluation.spec());
  const std::string stem = options.dump_folder + "/" + name + (job.steps > 1 ? fmt::format("_step{}", step) : "");
  write_atomically(stem + ".bin", {}, evaluation.message());
  data::write_npy(stem + "_decoded.npy", evaluation.decoded());
}

/// True for the steps that are dumped: those of --at, otherwise the last.
bool dumped(const Options& options, const Job& job, index_t step) {
  if (options.dump_folder.empty()) return false;
  if (job.loop != "training" || options.at.empty()) return step + 1 == job.steps;
  return std::find(options.at.begin(), options.at.end(), step) != options.at.end();
}

/// One for each method of the list.
std::list<MethodEvaluation> make_evaluations(const Options& options, const Job& job) {
  MethodEvaluationOptions each;
  each.closed = job.loop != "open";
  each.seed = options.seed;
  each.timings = options.timings;
  each.trials = options.trials;
  each.keep_bytes = !options.dump_folder.empty();
  std::list<MethodEvaluation> evaluations;
  for (const auto& spec : parse_methods(options.method_list())) {
    evaluations.emplace_back(spec.text, job.stream->layout(), each);
  }
  return evaluations;
}

}  // namespace

std::vector<Job> make_jobs(const Options& options) {
  options.check();
  const bool closed = options.residual_steps > 0;
  const Layout layout = options.layout.empty() || options.input.empty() ? Layout{} : read_layout(options.layout);
  std::vector<Job> jobs;
  if (closed && !options.input.empty()) {
    jobs.push_back({make_file_stream(options.input, layout), options.residual_steps, "closed"});
  } else {
    for (const auto& path : options.input) jobs.push_back({make_file_stream({path}, layout), 1, "open"});
  }
  for (const auto& name : options.data) {
    auto stream = make_synthetic_stream(name, options.size, options.layout, options.seed);
    jobs.push_back({std::move(stream), closed ? options.residual_steps : options.repeats, closed ? "closed" : "open"});
  }
  if (!options.training.model.empty()) {
    jobs.push_back({make_training_stream(options.training), options.training.steps, "training"});
  }
  std::set<std::string> names;
  for (const auto& job : jobs)
    require(names.insert(job.stream->name()).second,
            "two gradients have the name '{}', so their records could not be told apart; rename one of the files",
            job.stream->name());
  check_dumps(options, jobs);
  return jobs;
}

Findings evaluate(const Exec& exec, const Options& options, const std::vector<Job>& jobs, report::ResultFile& file,
                  const std::function<void(const std::string&, index_t, index_t)>& progress) {
  Findings findings;
  for (const Job& job : jobs) {
    const index_t elements = job.stream->layout().count();
    std::list<MethodEvaluation> evaluations = make_evaluations(options, job);
    ReadProbe read(elements);
    const index_t total = job.steps * static_cast<index_t>(evaluations.size());
    index_t done = 0;
    for (index_t step = 0; step < job.steps; ++step) {
      const Span<const float> gradient = job.stream->next(exec);
      for (auto e = evaluations.begin(); e != evaluations.end();) {
        bool diverged = false;
        try {
          e->step(exec, gradient, read);
        } catch (const DivergedError& error) {  // the other methods go on
          diverged = true;
          findings.failures.push_back(
              fmt::format("method '{}' on '{}': {}; docs/methods.md has the range of each method", e->spec().label,
                          job.stream->name(), error.what()));
        }
        if (!diverged && dumped(options, job, step)) dump(options, job, *e, step);
        e = diverged ? evaluations.erase(e) : std::next(e);
        progress(job.stream->name(), ++done, total);
      }
    }
    const Case what{job.stream->name(), job.loop, elements,
                    job.loop == "training" ? options.at : std::vector<index_t>{}};
    report::Table table = make_table(options.wide);
    for (const auto& evaluation : evaluations) {
      const report::Row row = to_row(what, evaluation);
      file.add(row);
      add_line(table, row, options.wide);
      const auto& m = evaluation.measurements();
      const std::string who = evaluation.spec().label + "' on '" + what.stream;
      if (!m.verified.value_or(true)) {
        findings.wrong.push_back(
            fmt::format("method '{}': what was decoded and what is kept back do not add up to the gradient", who));
      }
      const auto all = ratios(m, 0, m.density_ratio.size());
      if (const auto failure = density_failure(who, all, options.density_tolerance))
        findings.failures.push_back(*failure);
    }
    findings.tables.push_back(std::move(table));
  }
  return findings;
}

}  // namespace gradcomp::evaluate
