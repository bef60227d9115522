#pragma once
// The lists of methods for users, generated from Info: gradcomp-methods (text) and docs/methods.md (`--list=markdown`).
#include <string>

#include "gradcomp/core/info.hpp"

namespace gradcomp {

/// The text of docs/methods.md: a table of all registered methods, a section for each, the options of every method, the
/// coders and the compositions.
std::string methods_markdown();

/// The same for a terminal: the spec and the summary of each method with its parameters, then the common options, the
/// coders and the compositions.
std::string methods_text();

/// The spec of the method with the defaults of its own parameters, such as "top_k:ratio=0.01"; the name alone if it has
/// none.
std::string default_spec(const Info& info);

}  // namespace gradcomp
