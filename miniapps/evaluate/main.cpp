// gradcomp-evaluate: evaluates compressors on gradients from files, distributions or a training, on one rank.
#include "command_line.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/core/standard_output.hpp"
#include "gradcomp/evaluate/evaluation.hpp"
#include "gradcomp/evaluate/record.hpp"
#include "gradcomp/method/spec.hpp"
#include "gradcomp/program/program.hpp"
#include "gradcomp/report/context.hpp"
#include "gradcomp/report/progress.hpp"

using namespace gradcomp;

namespace {

report::Json to_json(const evaluate::Options& o) {
  return {{"methods", o.method_list()},
          {"files", o.input.size()},
          {"data", o.data},
          {"size", o.size},
          {"layout", o.layout},
          {"repeats", o.repeats},
          {"residual_steps", o.residual_steps},
          {"train", o.training.model},
          {"steps", o.training.steps},
          {"batch", o.training.batch},
          {"lr", o.training.learning_rate},
          {"at", o.at},
          {"timings", o.timings},
          {"trials", o.trials},
          {"seed", o.seed},
          {"density_tolerance", o.density_tolerance}};
}

int run(const evaluate::Options& o) {
  const Exec exec;
  parse_methods(o.method_list());  // refuses a wrong spec before files and data sets are read
  report::RunInfo info;
  info.program = "gradcomp-evaluate";
  info.options = to_json(o);
  info.seeds = {o.seed};
  report::ResultFile file(o.output, report::make_context(info));
  const auto jobs = evaluate::make_jobs(o);
  report::ProgressBar bar(true);
  const auto findings =
      evaluate::evaluate(exec, o, jobs, file, [&](const std::string& name, index_t done, index_t all) {
        if (done == 1) bar.phase(name, all);
        bar.update(done);
      });
  bar.clear();
  for (const auto& line : findings.failures) file.fail(line);
  if (findings.wrong.empty()) file.write();
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const auto& stream = *jobs[j].stream;
    fmt::print("{}{}: {} elements\n", j > 0 ? "\n" : "", stream.name(), stream.layout().count());
    findings.tables[j].print();
  }
  for (const auto* lines : {&findings.wrong, &findings.failures}) {
    for (const auto& line : *lines) print_error("gradcomp-evaluate", line);
  }
  return findings.wrong.empty() && findings.failures.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  evaluate::Options options;
  const auto parse = [&](int count, char** own, bool prints) {
    return parse_command_line(count, own, prints, options);
  };
  return run_program("gradcomp-evaluate", argc, argv, parse, [&] { return run(options); });
}
