#pragma once
// name:key=value:key=value, the form in which methods, strategies and transports are chosen; and lists of named
// entries.
#include <fmt/ranges.h>

#include <map>
#include <string>
#include <vector>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/nearest.hpp"

namespace gradcomp {

struct SpecPart {
  std::string name;
  std::map<std::string, std::string> options;
};

/// Throws Error, beginning with `owner`, for a word that is not key=value and for a key that is given twice.
SpecPart parse_spec_part(const std::string& owner, const std::string& text);

/// The words of `text` between separators.
std::vector<std::string> split_words(const std::string& text, char separator);

/// The entry called `name`; throws Error that says the nearest name, and lists all, when there is none. `kind`:
/// "reducer", say; name_of(entry) is its name.
template <class Entry, class NameOf>
const Entry& find_by_name(const std::vector<Entry>& entries, const char* kind, const std::string& name,
                          NameOf name_of) {
  std::vector<std::string> names;
  for (const Entry& entry : entries) {
    if (name_of(entry) == name) return entry;
    names.push_back(name_of(entry));
  }
  throw Error(
      fmt::format("unknown {} '{}'; {}allowed: {}", kind, name, did_you_mean(name, names), fmt::join(names, ", ")));
}
template <class Entry>
const Entry& find_by_name(const std::vector<Entry>& entries, const char* kind, const std::string& name) {
  return find_by_name(entries, kind, name, [](const Entry& entry) { return entry.name; });
}

}  // namespace gradcomp
