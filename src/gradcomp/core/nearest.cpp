#include "gradcomp/core/nearest.hpp"

#include <algorithm>
#include <numeric>

namespace gradcomp {
namespace {

/// `name` in lower case, without '-' and '_'.
std::string letters_of(const std::string& name) {
  std::string letters;
  for (const char c : name) {
    if (c != '-' && c != '_') letters += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return letters;
}

/// Fewest insertions, deletions and substitutions of one letter that turn `a` into `b` (Levenshtein 1966).
std::size_t edits(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);  // row[j]: edits from the first i letters of a to the first j of b
  std::iota(row.begin(), row.end(), std::size_t(0));
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_name(const std::string& name, const std::vector<std::string>& known) {
  const std::string letters = letters_of(name);
  if (letters.empty()) return {};
  for (const std::string& candidate : known) {
    if (letters_of(candidate) == letters) return candidate;
  }
  std::size_t fewest = std::max<std::size_t>(1, name.size() / 3) + 1;
  std::string nearest;
  for (const std::string& candidate : known) {
    const std::size_t needed = edits(name, candidate);
    if (needed >= fewest) continue;
    fewest = needed;
    nearest = candidate;
  }
  return nearest;
}

std::string did_you_mean(const std::string& name, const std::vector<std::string>& known) {
  const std::string nearest = nearest_name(name, known);
  return nearest.empty() ? "" : "did you mean '" + nearest + "'? ";
}

}  // namespace gradcomp
