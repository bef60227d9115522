// What users type: lists of methods, links, layouts, data sets, strategies and samplers, stragglers, files of options.
#include "fuzz/fuzz.hpp"
#include "gradcomp/comm/throttled.hpp"
#include "gradcomp/core/layout.hpp"
#include "gradcomp/data/registry.hpp"
#include "gradcomp/evaluate/gradient_file.hpp"
#include "gradcomp/exchange/method_spec.hpp"
#include "gradcomp/method/spec.hpp"
#include "gradcomp/nn/registry.hpp"
#include "gradcomp/program/config_file.hpp"
#include "gradcomp/train/straggler.hpp"

namespace gradcomp {

/// Layouts come from files alone, so that no model is linked.
const std::vector<nn::ModelFamily>& all_models() {
  static const std::vector<nn::ModelFamily> none;
  return none;
}

namespace fuzz {
namespace {

enum Kind : std::uint8_t { methods, links, layouts, data_sets, strategies, stragglers, configs, kinds };

/// The canonical form is a spec itself, with the same meaning.
void read_methods(const std::string& text) {
  for (const MethodSpec& spec : parse_methods(text)) {
    const std::string again = parse_method(spec.canonical).canonical;
    if (again != spec.canonical) broken("'" + spec.canonical + "' becomes '" + again + "'");
  }
}

void read_data_set(std::string text) {
  data::check_dataset(text, "data", data::is_any);
  data::take_length(text, 0);
}

void read_links(const std::string& text) {
  for (const Link& link : parse_links(text)) parse_link(link.text());
}

void read_layout(Input input) {
  const File file(input);
  const std::string text = evaluate::read_layout(file.path()).text();
  const File again(with_choice({}, text));
  if (evaluate::read_layout(again.path()).text() != text) broken("another layout is read from '" + text + "'");
}

/// Strategies and samplers are chosen in the same way: by a method, or by an option of the job.
void read_strategy(const std::string& text) {
  static const MethodSpec method = parse_method("fp32");
  static const std::vector<Parameter> parameters = {Parameter::integer("period", "4", 1, 1000000, "steps"),
                                                    Parameter::real("beta", "0.9", 0, 1, "decay"),
                                                    Parameter::choice("order", "a", {"a", "b"}, "order")};
  const auto [owner, part] = choose_part(method, "strategy", {}, text);
  const std::string canonical = ParameterValues(owner, parameters, part.options).canonical();
  const SpecPart same = parse_spec_part(owner, part.name + ":" + canonical);
  const std::string again = ParameterValues(owner, parameters, same.options).canonical();
  if (again != canonical) broken("'" + canonical + "' becomes '" + again + "'");
}

void read_config(Input input) {
  const File file(input);
  CLI::App app;
  double number = 0;
  std::vector<long> list;
  std::string text;
  bool flag = false;
  app.set_config("--config");
  app.config_formatter(std::make_shared<ConfigFile>(app));
  app.add_option("--lr", number);
  app.add_option("--sizes", list)->delimiter(',');
  app.add_option("--methods", text);
  app.add_flag("--raw", flag);
  try {
    app.parse("--config " + file.path(), false);
  } catch (const std::exception&) {  // program.cpp makes a line of each
  }
}

}  // namespace

void read(Input input) {
  const auto kind = static_cast<Kind>(take(input) % kinds);
  const std::string text = text_of(input);
  if (kind == methods)
    read_methods(text);
  else if (kind == links)
    read_links(text);
  else if (kind == layouts)
    read_layout(input);
  else if (kind == strategies)
    read_strategy(text);
  else if (kind == stragglers)
    train::StragglerOptions::parse(text);
  else if (kind == configs)
    read_config(input);
  else
    read_data_set(text);
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> all;
  for (const Entry& entry : all_entries()) {
    std::string spec = entry.info.name;
    for (const Parameter& p : entry.info.parameters) spec += ":" + p.name + "=" + p.default_value;
    all.push_back(with_choice({methods}, spec));
  }
  for (const char* list :
       {"top_k:ratio=0.1:index=auto:label=a+qsgd+huffman", "fp32,fp16,bf16:label=b,qsgd:coding=elias",
        "top_k:strategy.period=4:sampler.slices=2:feedback=residual:feedback.beta=0.9"})
    all.push_back(with_choice({methods}, list));
  for (const char* link : {"1Gbit/s,50us", "100kbit/s,2.5Mbit/s,1e9bit/s,1ms", "10Mbit/s"})
    all.push_back(with_choice({links}, link));
  all.push_back(with_choice({layouts}, "# a comment\nconv 64x3x3x3 outputs-first\nscalar\nfc 10x64\n"));
  for (const char* spec : {"shapetex10:train=100", "text:/tmp:level=char:length=5", "cifar100:/tmp:labels=coarse"})
    all.push_back(with_choice({data_sets}, spec));
  for (const char* spec : {"local:period=8", "overlapped:beta=0.5:order=b"})
    all.push_back(with_choice({strategies}, spec));
  all.push_back(with_choice({stragglers}, "rank=1,factor=2.5,jitter=0.3"));
  all.push_back(with_choice({configs}, "# options\nlr = 0.1\nsizes = [1, 20]\nmethods = \"fp32,top_k\"\nraw = true\n"));
  all.push_back(with_choice({configs}, "[part]\nlr=1e-3\n\nsizes='1'\nmethods=\"\"\"\na\"\"\"\n"));
  return all;
}

}  // namespace fuzz
}  // namespace gradcomp
