#pragma once
// There are three kinds of errors. Bad input throws Error with one line: what is wrong, where, and what is allowed.
// Broken internal invariants fail an assert(). Device code raises a flag, which the host turns into an Error.
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
