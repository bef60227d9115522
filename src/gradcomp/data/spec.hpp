#pragma once
// Specs of data sets: "kind:path:key=value:key=value".
#include <map>
#include <string>

#include "gradcomp/core/types.hpp"

namespace gradcomp::data {

/// "a=1:b=2" as a map (empty text: an empty one). Throws Error, beginning with `owner`, for text without '=' and for a
/// repeated key.
std::map<std::string, std::string> split_pairs(const std::string& owner, const std::string& text);

struct Spec {
  std::string kind;     ///< up to the first colon
  std::string path;     ///< what follows, up to the options; may hold colons
  std::string options;  ///< "key=value:key=value"; may be empty
};

/// Splits `text`. The options are the longest run of parts at the end that look like key=value, key of letters and _;
/// so a path whose last part looks like that after a colon cannot be named.
Spec split_spec(const std::string& text);

/// Takes the option length=N, steps of a sequence in one batch, out of `spec`. Returns N or, without it, `length`,
/// which is checked likewise; 0: neither was given. Throws Error where the two contradict each other or are not in [1,
/// 10^6].
index_t take_length(std::string& spec, index_t length);

}  // namespace gradcomp::data
