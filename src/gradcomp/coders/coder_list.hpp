#pragma once
// The coders of one kind, in the order of their ids. The header of a payload names a coder by its id, in four bits.
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/nearest.hpp"

namespace gradcomp::coders {

inline constexpr std::uint32_t largest_coder_id = 15;

/// Entry: IndexCoderEntry or ValueCoderEntry.
template <class Entry>
class CoderList {
 public:
  /// `kind`: "index coder" or "value coder", for error messages. Throws Error if an entry lacks a function, if its id
  /// is above 15, or if two entries have the same id. The entries must outlive the list.
  CoderList(const std::vector<Entry>& entries, const char* kind) : m_kind(kind) {
    for (const Entry& entry : entries) m_coders.push_back(&entry);
    std::stable_sort(m_coders.begin(), m_coders.end(), [](const Entry* a, const Entry* b) { return a->id < b->id; });
    for (std::size_t i = 0; i < m_coders.size(); ++i) {
      const Entry& coder = *m_coders[i];
      require(coder.is_complete(), "{} '{}': a function that every {} needs is missing", kind, coder.name, kind);
      require(coder.id <= largest_coder_id, "{} '{}': its id is {}; allowed: 0 to {}", kind, coder.name, coder.id,
              largest_coder_id);
      require(i == 0 || m_coders[i - 1]->id != coder.id, "{}s '{}' and '{}' have the same id {}; allowed: {}", kind,
              i == 0 ? "" : m_coders[i - 1]->name, coder.name, coder.id, fmt::join(free_ids(), ", "));
    }
  }

  auto begin() const { return m_coders.begin(); }
  auto end() const { return m_coders.end(); }
  /// The coder with the lowest id. A header without flags names it.
  const Entry& front() const { return *m_coders.front(); }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Entry* const coder : m_coders) names.push_back(coder->name);
    return names;
  }

  /// The coder called `name`. If there is none, throws Error with the nearest name and a list of all. `others`: further
  /// names that the caller allows, for this list.
  const Entry& named(const std::string& name, const std::vector<std::string>& others = {}) const {
    for (const Entry* const coder : m_coders)
      if (coder->name == name) return *coder;
    std::vector<std::string> known = names();
    known.insert(known.end(), others.begin(), others.end());
    throw Error(
        fmt::format("unknown {} '{}'; {}allowed: {}", m_kind, name, did_you_mean(name, known), fmt::join(known, ", ")));
  }

  /// The coder with this id. If there is none, throws Error that lists all: the payload is from another build, or
  /// damaged.
  const Entry& with_id(std::uint32_t id) const {
    for (const Entry* const coder : m_coders)
      if (coder->id == id) return *coder;
    std::vector<std::string> known;
    for (const Entry* const coder : m_coders) known.push_back(fmt::format("{} ({})", coder->id, coder->name));
    throw Error(fmt::format("payload: no {} has the id {}; known: {}", m_kind, id, fmt::join(known, ", ")));
  }

 private:
  std::vector<std::uint32_t> free_ids() const {
    std::vector<std::uint32_t> free;
    for (std::uint32_t id = 0; id <= largest_coder_id; ++id) {
      const auto has_it = [id](const Entry* coder) { return coder->id == id; };
      if (std::none_of(m_coders.begin(), m_coders.end(), has_it)) free.push_back(id);
    }
    return free;
  }

  const char* m_kind;
  std::vector<const Entry*> m_coders;
};

}  // namespace gradcomp::coders
