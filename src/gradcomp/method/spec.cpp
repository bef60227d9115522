#include "gradcomp/method/spec.hpp"

#include <algorithm>

#include "gradcomp/compressors/composition/composition.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/core/registry.hpp"
#include "gradcomp/core/spec_part.hpp"

namespace gradcomp {
namespace {

bool contains(const std::vector<Parameter>& list, const std::string& name) {
  return std::any_of(list.begin(), list.end(), [&](const Parameter& p) { return p.name == name; });
}

std::string joined(const std::string& name, const ParameterValues& options) {
  const std::string values = options.canonical();
  return name + (values.empty() ? "" : ":" + values);
}

constexpr const char *of_strategy = "strategy.", *of_sampler = "sampler.";

/// Removes the options whose keys begin with `prefix`, and returns them without the prefix.
std::map<std::string, std::string> take_prefixed(std::map<std::string, std::string>& options,
                                                 const std::string& prefix) {
  std::map<std::string, std::string> taken;
  for (auto option = options.begin(); option != options.end();) {
    if (option->first.starts_with(prefix)) {
      taken.emplace(option->first.substr(prefix.size()), option->second);
      option = options.erase(option);
    } else {
      ++option;
    }
  }
  return taken;
}

/// The names that may follow a '+'.
std::vector<std::string> stage_names() {
  std::vector<std::string> names = split_words(compressors::value_coder_names(), ',');
  for (std::string& name : names) name.erase(0, name.find_first_not_of(' '));
  names.emplace_back("huffman");
  return names;
}

/// Appends the stage `text` to spec.compressor. `more`: whether another stage follows. Returns the canonical form of
/// the stage, with its '+'.
std::string add_stage(const std::string& owner, const std::string& text, bool more, MethodSpec& spec) {
  const SpecPart part = parse_spec_part(owner, text);
  const bool first = spec.compressor->info().name.find('+') == std::string::npos;
  constexpr const char* order = "allowed: METHOD, then at most one value coder, then at most +huffman";
  try {
    if (part.name == "huffman") {
      require(!more, "nothing can follow huffman; {}", order);
      require(part.options.empty(), "huffman takes no options, and '{}' is given", text);
      spec.compressor = compressors::make_entropy_stage(spec.compressor);
      return "+huffman";
    }
    const auto& entries = all_entries();
    const auto entry =
        std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.info.name == part.name; });
    require(entry != entries.end(), "unknown stage '{}' behind +; {}allowed: a value coder ({}), huffman", part.name,
            did_you_mean(part.name, stage_names()), compressors::value_coder_names());
    require(first, "{} would be a second value coder; {}", part.name, order);
    for (const auto& [key, value] : part.options) {
      const bool common = key == "label" || contains(common_parameters(entry->info), key);
      require(!common, "{} belongs to the first part; allowed behind {}: the method's own options", key, part.name);
    }
    const ParameterValues own(part.name, entry->info.parameters, part.options);
    spec.compressor = compressors::make_hybrid(spec.compressor, entry->make(own));
    return "+" + joined(part.name, own);
  } catch (const Error& error) {
    throw Error(owner + ": " + error.what());
  }
}

}  // namespace

MethodSpec parse_method(const std::string& text) {
  require(text.empty() || text.back() != '+', "method '{}': nothing follows the last +", text);
  const auto parts = split_words(text, '+');
  require(!parts.empty() && !parts[0].empty() && parts[0][0] != ':', "method '{}': the name is missing", text);
  const std::string owner = "method '" + text + "'";
  SpecPart first = parse_spec_part(owner, parts[0]);
  const Entry& entry = find_entry(first.name);
  const auto shared = common_parameters(entry.info);
  MethodSpec spec;
  spec.text = spec.label = text;
  std::map<std::string, std::string> common;
  if (const auto label = first.options.extract("label"); !label.empty()) {
    require(!label.mapped().empty(), "{}: the label is empty", owner);
    spec.label = label.mapped();
  }
  for (const auto& parameter : shared) {
    if (auto node = first.options.extract(parameter.name); !node.empty()) common.insert(std::move(node));
  }
  spec.strategy_options = take_prefixed(first.options, of_strategy);
  spec.sampler_options = take_prefixed(first.options, of_sampler);
  auto listed = entry.info.parameters;
  if (std::any_of(first.options.begin(), first.options.end(),
                  [&](const auto& o) { return !contains(listed, o.first); })) {
    listed.insert(listed.end(), shared.begin(), shared.end());  // so that the error lists the common options too
    ParameterValues(owner, listed, first.options);
  }
  const ParameterValues own(owner, entry.info.parameters, first.options);
  spec.compressor = entry.make(own);
  spec.canonical = joined(first.name, own);
  std::string stages;
  for (std::size_t i = 1; i < parts.size(); ++i) stages += add_stage(owner, parts[i], i + 1 < parts.size(), spec);
  spec.common =
      ParameterValues(owner, common_parameters(spec.compressor->info()), common);  // stages may allow fewer reducers
  spec.canonical += ":" + spec.common.canonical();
  for (const auto& [key, value] : spec.strategy_options) spec.canonical += ":" + (of_strategy + key) + "=" + value;
  for (const auto& [key, value] : spec.sampler_options) spec.canonical += ":" + (of_sampler + key) + "=" + value;
  spec.canonical += stages;
  return spec;
}

std::vector<MethodSpec> parse_methods(const std::string& list) {
  std::vector<MethodSpec> specs;
  for (const auto& text : split_words(list, ',')) {
    specs.push_back(parse_method(text));
    for (std::size_t i = 0; i + 1 < specs.size(); ++i) {
      require(specs[i].canonical != specs.back().canonical || specs[i].label != specs.back().label,
              "methods '{}' and '{}' are the same; allowed: methods with different options or labels", specs[i].text,
              text);
    }
  }
  require(!specs.empty(), "the list of methods is empty; allowed: specs NAME[:KEY=VALUE...], separated by commas");
  return specs;
}

std::string with_option(const std::string& spec, const std::string& key, const std::string& value) {
  const auto plus = spec.find('+');
  const std::string first = spec.substr(0, plus), rest = plus == std::string::npos ? "" : spec.substr(plus);
  const std::string wanted = ":" + key + "=";
  const auto begin = first.find(wanted);
  if (begin == std::string::npos) return first + wanted + value + rest;
  const auto end = first.find(':', begin + 1);
  return first.substr(0, begin) + wanted + value + (end == std::string::npos ? "" : first.substr(end)) + rest;
}

}  // namespace gradcomp
