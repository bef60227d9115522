#pragma once
// What a mistyped name was probably meant to be: every list of names answers an unknown one with it.
#include <string>
#include <vector>

namespace gradcomp {

/// The name of `known` that `name` is nearest to: one that differs only in case, '-' and '_'; otherwise that of fewest
/// insertions, deletions and substitutions, at most one per three letters of `name` (one is always allowed), of equals
/// the first. Empty where no name is so near.
std::string nearest_name(const std::string& name, const std::vector<std::string>& known);

/// "did you mean 'top_k'? " for an error message, in front of what is allowed; empty where no name is near.
std::string did_you_mean(const std::string& name, const std::vector<std::string>& known);

}  // namespace gradcomp
