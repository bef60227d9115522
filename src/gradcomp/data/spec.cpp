#include "gradcomp/data/spec.hpp"

#include <algorithm>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/options.hpp"

namespace gradcomp::data {
namespace {

bool is_option(const std::string& part) {
  const auto equal = part.find('=');
  if (equal == std::string::npos || equal == 0) return false;
  return std::all_of(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(equal),
                     [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
}

}  // namespace

std::map<std::string, std::string> split_pairs(const std::string& owner, const std::string& text) {
  std::map<std::string, std::string> pairs;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    const std::string pair = text.substr(begin, end - begin);
    const auto equal = pair.find('=');
    require(equal != std::string::npos, "{}: '{}' is not of the form key=value", owner, pair);
    const bool fresh = pairs.emplace(pair.substr(0, equal), pair.substr(equal + 1)).second;
    require(fresh, "{}: option '{}' is given twice", owner, pair.substr(0, equal));
    begin = end + 1;
  }
  return pairs;
}

Spec split_spec(const std::string& text) {
  const auto first = text.find(':');
  Spec spec{text.substr(0, first), first == std::string::npos ? "" : text.substr(first + 1), ""};
  while (!spec.path.empty()) {
    const auto colon = spec.path.rfind(':');
    const std::string last = colon == std::string::npos ? spec.path : spec.path.substr(colon + 1);
    if (!is_option(last)) break;
    spec.options = spec.options.empty() ? last : last + ":" + spec.options;
    spec.path = colon == std::string::npos ? "" : spec.path.substr(0, colon);
  }
  return spec;
}

index_t take_length(std::string& text, index_t length) {
  const Spec spec = split_spec(text);
  auto pairs = split_pairs(spec.kind, spec.options);
  const auto given = pairs.find("length");
  const Parameter parameter = Parameter::integer("length", "1", 1, 1e6, "steps of a sequence in one batch");
  if (length != 0) parameter.check(spec.kind, fmt::format("{}", length));
  if (given == pairs.end()) return length;
  const index_t chosen = ParameterValues(spec.kind, {parameter}, {*given}).integer("length");
  require(length == 0 || length == chosen, "{}: length={} and another length, {}, are both given", spec.kind, chosen,
          length);
  pairs.erase(given);
  text = spec.kind + (spec.path.empty() ? "" : ":" + spec.path);
  for (const auto& [key, value] : pairs) text += ":" + key + "=" + value;
  return chosen;
}

}  // namespace gradcomp::data
