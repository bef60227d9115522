#pragma once
// Specs of data sets: "kind:path:key=value:key=value".
#include <map>
#include <string>

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

}  // namespace gradcomp::data
