#include "gradcomp/core/options.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/nearest.hpp"
#include "gradcomp/core/number.hpp"

namespace gradcomp {
namespace {

bool in_range(const Parameter& p, double value) {
  return std::isfinite(value) && value <= p.high && (p.open_low ? value > p.low : value >= p.low);
}

}  // namespace

Parameter Parameter::real(std::string name, std::string value, double low, double high, std::string help,
                          bool open_low) {
  return {std::move(name), Type::real, std::move(value), low, high, open_low, {}, std::move(help)};
}

Parameter Parameter::integer(std::string name, std::string value, double low, double high, std::string help) {
  return {std::move(name), Type::integer, std::move(value), low, high, false, {}, std::move(help)};
}

Parameter Parameter::choice(std::string name, std::string value, std::vector<std::string> choices, std::string help) {
  return {std::move(name), Type::choice, std::move(value), 0, 0, false, std::move(choices), std::move(help)};
}

Parameter Parameter::word(std::string name, std::string value, std::string help) {
  return {std::move(name), Type::word, std::move(value), 0, 0, false, {}, std::move(help)};
}

std::string Parameter::allowed() const {
  if (type == Type::word) return "a name";
  if (type == Type::choice) return fmt::format("one of {}", fmt::join(choices, ", "));
  return fmt::format("{} in {}{}, {}]", type == Type::real ? "a number" : "an integer", open_low ? '(' : '[', low,
                     high);
}

void Parameter::check(const std::string& owner, const std::string& text) const {
  bool good = false;
  if (type == Type::choice) {
    good = std::find(choices.begin(), choices.end(), text) != choices.end();
  } else if (type == Type::word) {
    good = !text.empty();
  } else if (type == Type::integer) {
    const auto value = to_number<index_t>(text);
    good = value && in_range(*this, static_cast<double>(*value));
  } else {
    const auto value = to_number<double>(text);
    good = value && in_range(*this, *value);
  }
  require(good, "{}: {}={} is not allowed; {}{} is {}", owner, name, text, did_you_mean(text, choices), name,
          allowed());
}

ParameterValues::ParameterValues(const std::string& owner, const std::vector<Parameter>& declared,
                                 const std::map<std::string, std::string>& given) {
  std::vector<std::string> names;
  for (const auto& p : declared) {
    m_order.push_back(p.name);
    if (p.added || p.name.find('.') != std::string::npos) m_quiet.insert(p.name);
    m_values[p.name] = m_defaults[p.name] = p.default_value;
    names.push_back(p.name);
  }
  for (const auto& [key, value] : given) {
    const auto p = std::find_if(declared.begin(), declared.end(), [&](const Parameter& d) { return d.name == key; });
    for (const Parameter& d : declared) {
      require(d.former_name.empty() || d.former_name != key, "{}: option '{}' is now called '{}'", owner, key, d.name);
    }
    require(p != declared.end(), "{}: unknown option '{}'; {}allowed: {}", owner, key, did_you_mean(key, names),
            names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
    p->check(owner, value);
    m_values[key] = value;
  }
}

double ParameterValues::real(const std::string& name) const {
  const auto value = to_number<double>(text(name));
  require(value.has_value(), "option '{}' is not a number: '{}'", name, text(name));
  return *value;
}

index_t ParameterValues::integer(const std::string& name) const {
  const auto value = to_number<index_t>(text(name));
  require(value.has_value(), "option '{}' is not an integer: '{}'", name, text(name));
  return *value;
}

const std::string& ParameterValues::text(const std::string& name) const {
  const auto found = m_values.find(name);
  require(found != m_values.end(), "option '{}' was never declared", name);
  return found->second;
}

std::string ParameterValues::canonical() const {
  std::vector<std::string> parts;
  for (const auto& name : m_order) {
    if (!m_quiet.contains(name) || m_values.at(name) != m_defaults.at(name))
      parts.push_back(name + "=" + m_values.at(name));
  }
  return fmt::format("{}", fmt::join(parts, ":"));
}

}  // namespace gradcomp
