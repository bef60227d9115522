#pragma once
// Parameters of a method (what info() declares) and the values that a spec gives them.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp {

/// One declared parameter: everything that --list, the docs, the parser and the error messages need.
struct Parameter {
  enum class Type { real, integer, choice, word };
  std::string name;
  Type type = Type::real;
  std::string default_value;
  double low = 0, high = 0;          ///< allowed range of numbers
  bool open_low = false;             ///< `low` itself is refused, as for a ratio
  std::vector<std::string> choices;  ///< allowed words of a choice
  std::string help;
  std::string former_name = {};  ///< name in earlier versions: an error names the new one; empty: none
  bool shared = false;           ///< the same in several methods: tests vary it on one of them
  bool added = false;            ///< newer than records: the canonical form omits it if it has its default

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
  /// A name that a higher layer knows the meaning of.
  static Parameter word(std::string name, std::string value, std::string help);

  /// "a number in (0, 1]", "one of exponential": for error messages and docs.
  std::string allowed() const;
  /// Throws Error naming `owner`, the parameter and what is allowed, unless `text` is a valid value.
  void check(const std::string& owner, const std::string& text) const;
};

/// Values of declared parameters, defaults filled in.
class ParameterValues {
 public:
  ParameterValues() = default;
  /// `given` over the defaults of `declared`; throws Error for an unknown key or a value that is not allowed.
  ParameterValues(const std::string& owner, const std::vector<Parameter>& declared,
                  const std::map<std::string, std::string>& given);

  double real(const std::string& name) const;
  index_t integer(const std::string& name) const;
  const std::string& text(const std::string& name) const;
  /// All values in the declared order, as "key=value:key=value"; dotted sub-options and added ones only where they are
  /// not the default.
  std::string canonical() const;

 private:
  std::vector<std::string> m_order;
  std::set<std::string> m_quiet;  ///< left out of the canonical form where they have their default
  std::map<std::string, std::string> m_values, m_defaults;
};

}  // namespace gradcomp
