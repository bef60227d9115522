#pragma once
// The lists of index and value coders that users read, made from their entries.
#include <string>

namespace gradcomp {

/// A section of docs/methods.md: two tables, of the coders of `index=` and of `values=`.
std::string coders_markdown();

/// The same as lines of text, for `--list`.
std::string coders_text();

}  // namespace gradcomp
