#pragma once
// The lists of index and value coders for users, generated from the entries of the coders.
#include <string>

namespace gradcomp {

/// A section of docs/methods.md with two tables: the coders of `index=` and those of `values=`.
std::string coders_markdown();

/// The same as lines of text, for gradcomp-methods.
std::string coders_text();

}  // namespace gradcomp
