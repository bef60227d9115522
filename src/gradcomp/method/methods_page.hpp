#pragma once
// The lists of methods that users read, made from info(): `--list` (text) and docs/methods.md (--list=markdown).
#include <string>

#include "gradcomp/core/info.hpp"

namespace gradcomp {

/// docs/methods.md: a table of all registered methods, then one section each, then the options that all accept.
std::string methods_markdown();

/// For a terminal: name, default options and summary of each method, then its parameters, two columns.
std::string methods_text();

/// Spec of the method with every parameter of its own: "top_k:ratio=0.01"; the name alone when it has none.
std::string default_spec(const Info& info);

}  // namespace gradcomp
