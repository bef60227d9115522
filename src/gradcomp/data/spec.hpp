#pragma once
// Specs of data sets: "kind:path:key=value:key=value".
#include <map>
#include <string>

#include "gradcomp/core/types.hpp"

namespace gradcomp::data {

/// Splits "a=1:b=2" into a map, which is empty if `text` is. Throws Error that begins with `owner` if a part has no '='
/// or a key is repeated.
std::map<std::string, std::string> split_pairs(const std::string& owner, const std::string& text);

struct Spec {
  std::string kind;     ///< what stands before the first colon
  std::string path;     ///< what stands between kind and options; may contain colons or be empty
  std::string options;  ///< "key=value:key=value"; may be empty
};

/// Splits `text`. The options are all parts at its end that look like key=value with a key of the characters a to z and
/// _. So a path cannot end in a colon and such a part.
Spec split_spec(const std::string& text);

/// Removes the option length=N (tokens or frames of a sequence in one batch) from `spec`. Returns N or, if the option
/// is not there, `length`; 0 means that neither was given. Throws Error if N or a `length` other than 0 is not in
/// [1, 10^6], or if the two differ.
index_t take_length(std::string& spec, index_t length);

}  // namespace gradcomp::data
