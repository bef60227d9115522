#pragma once
// Registers entries of another project: methods, transports and reducers, whose contracts are installed
// (docs/install.md). They appear beside our own everywhere: in specs, lists and checks.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "gradcomp/core/error.hpp"

namespace gradcomp {

/// The entries that other projects add, for one type of entry. Not thread-safe.
template <class E>
class Registrations {
 public:
  static void add(E entry) {
    const std::string name = name_of(entry);
    const auto allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
    require(!name.empty() && std::all_of(name.begin(), name.end(), allowed),
            "register_entry: the name is '{}'; allowed: lower-case letters, digits and _", name);
    require(!closed(), "register_entry: '{}' comes after the list was first used; register it before", name);
    pending().push_back(std::move(entry));
  }

  /// Our own entries together with the added ones, sorted by name. After this call nothing can be added.
  static std::vector<E> join(std::vector<E> entries) {
    entries.insert(entries.end(), pending().begin(), pending().end());
    const auto before = [](const E& a, const E& b) { return name_of(a) < name_of(b); };
    std::stable_sort(entries.begin(), entries.end(), before);
    const auto twice = std::adjacent_find(entries.begin(), entries.end(),
                                          [](const E& a, const E& b) { return name_of(a) == name_of(b); });
    require(twice == entries.end(), "register_entry: there are two entries called '{}'; allowed: a name not in use",
            twice == entries.end() ? "" : name_of(*twice));
    closed() = true;
    return entries;
  }

 private:
  static const std::string& name_of(const E& entry) {
    if constexpr (requires { entry.info; }) {
      return entry.info.name;
    } else {
      return entry.name;
    }
  }
  static std::vector<E>& pending() {
    static std::vector<E> entries;
    return entries;
  }
  static bool& closed() {
    static bool is_closed = false;
    return is_closed;
  }
};

/// Adds an entry of the caller, of any type that a registry lists: Entry, coders::IndexCoderEntry,
/// coders::ValueCoderEntry, TransportEntry, ReducerEntry, StrategyEntry, SamplerEntry, nn::ModelFamily or
/// data::DatasetEntry. Call it at the start of main(). Throws Error if the list was used before, and if the name is not
/// allowed. A name that is already in use throws Error when the list is first used.
template <class E>
void register_entry(E entry) {
  Registrations<E>::add(std::move(entry));
}

}  // namespace gradcomp
