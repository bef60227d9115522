#pragma once
// Errors come in three tiers: bad input throws Error with one line (what, where, what is allowed); broken internal
// invariants assert; device code raises a flag that the host turns into one of the two.
#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace gradcomp {

/// Bad input: options, files, payloads from a peer, mismatched ranks. The text is the one line that the user sees.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws Error with the formatted line unless `condition` holds.
template <class... Args>
void require(bool condition, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) throw Error(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace gradcomp
