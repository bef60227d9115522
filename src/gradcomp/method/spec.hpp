#pragma once
// The method spec that users type: name:key=value:key=value, then +CODER:key=value for the values that a sparsifier
// keeps, then +huffman for the bytes (docs/concepts.md, section "Method spec").
#include <string>
#include <vector>

#include "gradcomp/core/registry.hpp"
#include "gradcomp/exchange/method_spec.hpp"

namespace gradcomp {

/// Parses one spec. Throws Error naming the spec, the offending part and what is allowed.
MethodSpec parse_method(const std::string& text);

/// Parses a comma-separated list; duplicates (by canonical form) are an error.
std::vector<MethodSpec> parse_methods(const std::string& list);

}  // namespace gradcomp
