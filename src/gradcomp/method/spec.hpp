#pragma once
// The method spec that users type: name:key=value:key=value, then +CODER:key=value for the values that a sparsifier
// keeps, then +huffman for the bytes (docs/concepts.md, section "Method spec").
#include <string>
#include <vector>

#include "gradcomp/core/registry.hpp"
#include "gradcomp/exchange/method_spec.hpp"

namespace gradcomp {

/// Parses one spec. Throws Error that names the spec, the wrong part and what is allowed.
MethodSpec parse_method(const std::string& text);

/// Parses a list of specs separated by commas. Throws Error also for an empty list, and if two specs have the same
/// canonical form and the same label.
std::vector<MethodSpec> parse_methods(const std::string& list);

/// `spec` with option `key` of its first part set to `value`. The option is replaced if it is given, otherwise
/// appended.
std::string with_option(const std::string& spec, const std::string& key, const std::string& value);

}  // namespace gradcomp
