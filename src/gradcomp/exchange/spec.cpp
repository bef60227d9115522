#include "gradcomp/exchange/spec.hpp"

#include <algorithm>
#include <map>
#include <sstream>

#include "gradcomp/core/error.hpp"
#include "gradcomp/exchange/reducer.hpp"
#include "gradcomp/feedback/feedback.hpp"

namespace gradcomp {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

bool contains(const std::vector<Parameter>& list, const std::string& name) {
  return std::any_of(list.begin(), list.end(), [&](const Parameter& p) { return p.name == name; });
}

}  // namespace

std::vector<Parameter> common_parameters(const Info& info) {
  auto list = feedback_parameters(info);
  for (auto& parameter : reducer_parameters(info)) list.push_back(std::move(parameter));
  list.push_back(
      Parameter::choice("schedule", "job", {"job", "synchronous", "overlapped"}, "job: what --schedule says"));
  list.push_back(Parameter::choice("granularity", info.granularity, {"tensor", "bucket"}, "what one segment is"));
  list.push_back(Parameter::real("lr", "0", 0, 1e6, "learning rate; 0: the job's rate times the method's scale"));
  return list;
}

double MethodSpec::learning_rate(double job_rate) const {
  const double own = common.real("lr");
  return own > 0 ? own : job_rate * compressor->info().learning_rate_scale;
}

MethodSpec parse_method(const std::string& text) {
  const auto parts = split(text, ':');
  require(!parts.empty() && !parts[0].empty(), "method '{}': the name is missing", text);
  const Entry& entry = find_entry(parts[0]);
  const auto shared = common_parameters(entry.info);
  std::map<std::string, std::string> own, common;
  MethodSpec spec;
  spec.text = spec.label = text;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto equals = parts[i].find('=');
    require(equals != std::string::npos && equals > 0, "method '{}': '{}' is not key=value", text, parts[i]);
    const std::string key = parts[i].substr(0, equals), value = parts[i].substr(equals + 1);
    require(!own.contains(key) && !common.contains(key), "method '{}': {} is given twice", text, key);
    if (key == "label") {
      require(!value.empty(), "method '{}': the label is empty", text);
      spec.label = value;
    } else {
      (contains(shared, key) ? common : own)[key] = value;
    }
  }
  const std::string owner = "method '" + text + "'";
  auto listed = entry.info.parameters;
  if (std::any_of(own.begin(), own.end(), [&](const auto& o) { return !contains(listed, o.first); })) {
    listed.insert(listed.end(), shared.begin(), shared.end());  // so that the error lists the common options too
    Options(owner, listed, own);
  }
  const Options options(owner, entry.info.parameters, own);
  spec.compressor = entry.make(options);
  spec.common = Options(owner, common_parameters(spec.compressor->info()), common);  // options may have narrowed it
  const std::string own_canonical = options.canonical();
  spec.canonical = parts[0] + (own_canonical.empty() ? "" : ":" + own_canonical) + ":" + spec.common.canonical();
  return spec;
}

std::vector<MethodSpec> parse_methods(const std::string& list) {
  std::vector<MethodSpec> specs;
  for (const auto& text : split(list, ',')) {
    specs.push_back(parse_method(text));
    for (std::size_t i = 0; i + 1 < specs.size(); ++i) {
      require(specs[i].canonical != specs.back().canonical || specs[i].label != specs.back().label,
              "methods '{}' and '{}' are the same", specs[i].text, text);
    }
  }
  require(!specs.empty(), "the list of methods is empty");
  return specs;
}

}  // namespace gradcomp
