#pragma once
// Parses texts of the form name:key=value:key=value, which choose methods, strategies and transports, and finds entries
// by name.
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

/// The entry called `name`. If there is none, throws Error with the nearest name and a list of all. `kind` says what
/// the entries are, such as "reducer"; name_of(entry) is the name of an entry.
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
