// gradcomp-methods: lists what there is, and tells what methods would send for a model, without training it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <regex>
#include <sstream>

#include "describe.hpp"
#include "gradcomp/comm/registry.hpp"
#include "gradcomp/data/open_task.hpp"
#include "gradcomp/evaluate/record.hpp"
#include "gradcomp/method/methods_page.hpp"
#include "gradcomp/nn/make_model.hpp"
#include "gradcomp/nn/networks/shapes.hpp"
#include "gradcomp/program/program.hpp"
#include "gradcomp/report/context.hpp"
#include "gradcomp/sampling/batch_sampler.hpp"
#include "gradcomp/train/options_json.hpp"
#include "shared/training_options.hpp"

using namespace gradcomp;

namespace {

struct CommandLine {
  train::Options train;
  bool describe = false;
  std::string list = "text";
};

std::optional<int> parse_command_line(int argc, char** argv, bool prints, CommandLine& line) {
  CLI::App app{
      "Lists the methods; with --describe, prints the tensors and buckets of a model and what each method sends in a\n"
      "step, without training.",
      "gradcomp-methods"};
  begin_options(app);
  auto* list = app.add_flag("--list{text}", line.list,
                            "what to list: text, json or markdown (methods), strategies, samplers or transports")
                   ->check(CLI::IsMember({"text", "json", "markdown", "strategies", "samplers", "transports"}));
  auto* describe = app.add_flag("--describe", line.describe,
                                "print tensors, buckets and payload bytes per step; --model may also be a published "
                                "network that does not train here");
  describe->excludes(list);
  line.train.methods = "fp32," + line.train.methods;
  add_methods(app, line.train.methods);
  add_model_options(app, line.train);
  app.add_option("--output", line.train.output, "result file (JSON) of --describe")->needs(describe);
  return parse(app, argc, argv, prints);
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

/// The text in 80 columns: a line that is longer goes on in lines that stand further to the right.
std::string fitted(const std::string& text) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t most = 80, begin = line.find_first_not_of(' '), end = line.rfind(' ', most);
    if (line.size() > most && end != std::string::npos && end > begin) {
      const std::string space(begin + 4, ' ');
      const std::string rest = wrapped(line.substr(end), most - space.size());
      line = line.substr(0, end) + std::regex_replace("\n" + rest, std::regex("\n"), "\n" + space);
    }
    out += line + "\n";
  }
  return out;
}

std::string list(const std::string& what) {
  if (what == "json") return evaluate::methods_json().dump(1) + "\n";
  if (what == "markdown") return methods_markdown();
  if (what == "strategies") return fitted(entries_text(all_strategies()));
  if (what == "samplers") return fitted(entries_text(all_samplers()));
  if (what == "transports") return fitted(entries_text(program_transports()));
  return fitted(methods_text());
}

/// The tensors of the model: those of a published model, or those that the model has for the data.
Layout shapes_of(const train::Options& o) {
  const auto names = nn::shape_names(), trained = nn::model_names();
  const auto has = [&](const auto& known) { return std::find(known.begin(), known.end(), o.model) != known.end(); };
  if (has(names) || !has(trained)) return nn::model_shapes(o.model);
  return nn::make_model<float>(o.model, data::open_task(o.data, o.length)->shape(), 1)->layout();
}

int run(const train::Options& o) {
  report::RunInfo info;
  info.program = "gradcomp-methods";
  info.options = {{"data", o.data},       {"length", o.length},     {"model", o.model},
                  {"methods", o.methods}, {"strategy", o.strategy}, {"bucket_kib", train::to_json(o)["bucket_kib"]}};
  report::ResultFile file(o.output, report::make_context(info));
  const auto methods = parse_methods(o.methods);
  describe(shapes_of(o), methods, o, file);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CommandLine line;
  const auto parse = [&](int count, char** own, bool prints) { return parse_command_line(count, own, prints, line); };
  return run_program("gradcomp-methods", argc, argv, parse, [&] {
    if (line.describe) return run(line.train);
    std::fputs(list(line.list).c_str(), stdout);
    return 0;
  });
}
