#pragma once
// Ranges of numbers that users give.
#include <algorithm>
#include <vector>

#include "gradcomp/core/error.hpp"

namespace gradcomp {

/// Throws Error unless least <= value <= most, which NaN never is: "NAME VALUE is not allowed; allowed: LEAST to MOST
/// WHAT".
inline void require_between(const char* name, double value, double least, double most, const char* what = "") {
  require(value >= least && value <= most, "{} {} is not allowed; allowed: {} to {}{}{}", name, value, least, most,
          *what != '\0' ? " " : "", what);
}

/// Throws Error if a value of the list that the option NAME takes is given twice: its rows would have one name.
template <class T>
void require_distinct(const char* name, std::vector<T> values) {
  std::sort(values.begin(), values.end());
  const auto twice = std::adjacent_find(values.begin(), values.end());
  if (twice != values.end()) throw Error(fmt::format("{}: {} is given twice", name, *twice));
}

}  // namespace gradcomp
