#pragma once
// The name that a mistyped name probably means: errors about unknown names suggest it.
#include <string>
#include <vector>

namespace gradcomp {

/// The name in `known` that is nearest to `name`: one that differs only in case, '-' and '_'; otherwise the one with
/// the fewest insertions, deletions and substitutions, at most one per three letters of `name` (one is always allowed).
/// Ties go to the first. Empty if no name is that near.
std::string nearest_name(const std::string& name, const std::vector<std::string>& known);

/// "did you mean 'top_k'? ", which error messages put in front of what is allowed; empty if no name is near.
std::string did_you_mean(const std::string& name, const std::vector<std::string>& known);

}  // namespace gradcomp
