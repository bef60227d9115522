#pragma once
// Options of generators as tables of dials. One line gives a dial's name, its member, its range and its meaning.
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/options.hpp"

namespace gradcomp::data {

/// One member of the options O. The member's initialiser is the default.
template <class O>
struct Dial {
  const char* name;
  std::variant<index_t O::*, double O::*> member;
  double low, high;
  const char* help;
  bool added = false;  ///< added when results existed: the canonical form omits it while it has its default
};

/// All dials of the options O in the order of the canonical form. O has the members validation and test.
template <class O>
class Dials {
 public:
  /// `owner`: the generator's name, for errors and the canonical form.
  Dials(std::string owner, std::vector<Dial<O>> dials) : m_owner(std::move(owner)), m_dials(std::move(dials)) {}

  /// Names, defaults, ranges and meanings of the dials.
  std::vector<Parameter> parameters() const {
    std::vector<Parameter> list;
    for (const Dial<O>& d : m_dials) {
      const auto make = std::holds_alternative<double O::*>(d.member) ? real : Parameter::integer;
      list.push_back(make(d.name, text(d, O()), d.low, d.high, d.help));
    }
    return list;
  }

  /// The defaults, replaced by what is `given`; validation=0 becomes the value of test. Throws Error that lists what is
  /// allowed.
  O from(const std::map<std::string, std::string>& given) const {
    const ParameterValues values(m_owner, parameters(), given);
    O options;
    for (const Dial<O>& d : m_dials) {
      if (const auto* member = std::get_if<double O::*>(&d.member)) {
        options.** member = values.real(d.name);
      } else {
        options.*std::get<index_t O::*>(d.member) = values.integer(d.name);
      }
    }
    if (options.validation == 0) options.validation = options.test;
    return options;
  }

  /// "owner:name=value:...", as results record the options.
  std::string canonical(const O& options) const {
    std::string all = m_owner;
    for (const Dial<O>& d : m_dials) {
      const std::string value = text(d, options);
      if (!d.added || value != text(d, O())) all += fmt::format(":{}={}", d.name, value);
    }
    return all;
  }

 private:
  static Parameter real(std::string name, std::string value, double low, double high, std::string help) {
    return Parameter::real(std::move(name), std::move(value), low, high, std::move(help));
  }
  static std::string text(const Dial<O>& dial, const O& options) {
    return std::visit([&](const auto member) { return fmt::format("{}", options.*member); }, dial.member);
  }

  std::string m_owner;
  std::vector<Dial<O>> m_dials;
};

}  // namespace gradcomp::data
