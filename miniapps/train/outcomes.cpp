#include "outcomes.hpp"

#include <fmt/format.h>

using namespace gradcomp;

train::JobFacts job_facts(const train::Options& options, const data::Task& task, const train::EmulatedLinks* links) {
  const bool several = links != nullptr && links->count() > 1;
  return {options, task.name(), task.trivial(), several ? links->links() : std::vector<Link>()};
}

void add_rows(report::ResultFile& file, const std::vector<Repeat>& repeats, train::JobFacts job) {
  for (const Repeat& repeat : repeats) {
    job.options.seed = repeat.seed;
    for (std::size_t i = 0; i < repeat.results.size(); ++i) file.add(train::to_row(repeat.results, i, job));
  }
}

void print(const std::vector<Repeat>& repeats, const train::JobFacts& job, const std::string& output) {
  for (const Repeat& repeat : repeats) {
    if (repeats.size() > 1) fmt::print("\nseed {}\n", repeat.seed);
    train::to_table(repeat.results, job).print();
    if (!job.links.empty()) {
      fmt::print("\nover each link\n");
      train::to_links_table(repeat.results, job).print();
    }
    if (job.options.target.empty()) continue;
    fmt::print("\nto {}, as the evaluations saw it\n", job.options.target);
    train::to_target_table(repeat.results).print();
  }
  fmt::print(
      "Bytes are those of a step, steps are means. The speed-up is that against fp32,\n"
      "with its 95 % interval over blocks of --block steps; those of all methods hold\n"
      "together. It is left out (-) if the interval contains 1, with one block, and if\n"
      "the method lacks more quality than --quality-tolerance allows, or half of what\n"
      "no_exchange lacks. If no_exchange lacks no more than is allowed, ranks need not\n"
      "exchange: the task tells nothing. Which methods pay (in a source tree:\n"
      "tools/report):\n  gradcomp-report --text {}\n",
      output.empty() ? "FILE, after --output FILE" : output);
}
