#pragma once
// The method spec that users type: name:key=value:key=value, then +CODER:key=value for the values that a sparsifier
// keeps, then +huffman for the bytes (docs/concepts.md, section "Method spec").
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gradcomp/core/registry.hpp"

namespace gradcomp {

/// A parsed and validated spec: four choices (compressor, feedback, reducer, strategy) and their options.
struct MethodSpec {
  std::string text;       ///< as typed
  std::string canonical;  ///< defaults filled in
  std::string label;      ///< for tables: label=..., otherwise the text
  std::shared_ptr<const Compressor> compressor;
  Options common;  ///< feedback, feedback.beta, feedback.gamma, reducer, strategy, granularity, lr
  /// strategy.KEY=VALUE, without the prefix: only the strategies know which there are (strategy/strategy.hpp).
  std::map<std::string, std::string> strategy_options;

  /// lr=... of the spec, or the job's rate times the method's learning_rate_scale.
  double learning_rate(double job_rate) const;
};

/// Parses one spec. Throws Error naming the spec, the offending part and what is allowed.
MethodSpec parse_method(const std::string& text);

/// Parses a comma-separated list; duplicates (by canonical form) are an error.
std::vector<MethodSpec> parse_methods(const std::string& list);

/// Options that every method accepts, with the defaults that `info` declares.
std::vector<Parameter> common_parameters(const Info& info);

}  // namespace gradcomp
