#pragma once
// Parameters that methods, reducers, strategies, ... declare, and the values that a spec gives them.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp {

/// One declared parameter: everything that gradcomp-methods, the docs, the parser and the error messages need about it.
struct Parameter {
  enum class Type { real, integer, choice, word };
  std::string name;
  Type type = Type::real;
  std::string default_value;
  double low = 0, high = 0;          ///< allowed range of numbers
  bool open_low = false;             ///< `low` itself is not allowed, as for a ratio
  std::vector<std::string> choices;  ///< allowed words of a choice
  std::string help;
  std::string former_name = {};  ///< name in earlier versions (empty: none); using it is an error with the new name
  bool shared = false;           ///< several methods have the same parameter: tests vary it for one of them
  bool added = false;            ///< newer than some result files: the canonical form omits it at its default

  Parameter formerly(std::string old_name) const {
    Parameter copy = *this;
    copy.former_name = std::move(old_name);
    return copy;
  }
  Parameter as_shared() const {
    Parameter copy = *this;
    copy.shared = true;
    return copy;
  }

  Parameter as_added() const {
    Parameter copy = *this;
    copy.added = true;
    return copy;
  }

  static Parameter real(std::string name, std::string value, double low, double high, std::string help,
                        bool open_low = false);
  static Parameter integer(std::string name, std::string value, double low, double high, std::string help);
  static Parameter choice(std::string name, std::string value, std::vector<std::string> choices, std::string help);
  /// A name whose meaning only a higher layer knows.
  static Parameter word(std::string name, std::string value, std::string help);

  /// "a number in (0, 1]", "one of exponential": for error messages and docs.
  std::string allowed() const;
  /// Throws Error naming `owner`, the parameter and what is allowed, unless `text` is a valid value.
  void check(const std::string& owner, const std::string& text) const;
};

/// The values of declared parameters, with defaults filled in.
class ParameterValues {
 public:
  ParameterValues() = default;
  /// Takes the values in `given` and the defaults of `declared` for all others. Throws Error, beginning with `owner`,
  /// for an unknown or former key and for a value that is not allowed.
  ParameterValues(const std::string& owner, const std::vector<Parameter>& declared,
                  const std::map<std::string, std::string>& given);

  double real(const std::string& name) const;
  index_t integer(const std::string& name) const;
  const std::string& text(const std::string& name) const;
  /// All values in the declared order, as "key=value:key=value". Options with a dot in their name and added options are
  /// left out if they have their default.
  std::string canonical() const;

 private:
  std::vector<std::string> m_order;
  std::set<std::string> m_quiet;  ///< left out of the canonical form if they have their default
  std::map<std::string, std::string> m_values, m_defaults;
};

}  // namespace gradcomp
