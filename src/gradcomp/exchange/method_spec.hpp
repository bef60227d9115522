#pragma once
// A chosen method: what the parser of specs (method/spec.hpp) returns, with everything that the layers below need to
// know of it.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gradcomp/core/compressor.hpp"
#include "gradcomp/core/spec_part.hpp"

namespace gradcomp {

/// A parsed and validated spec: five choices (compressor, feedback, reducer, strategy, sampler) and their options.
struct MethodSpec {
  std::string text;       ///< the spec as it was typed
  std::string canonical;  ///< the spec with all defaults filled in
  std::string label;      ///< for tables: the value of label=, otherwise the text
  std::shared_ptr<const Compressor> compressor;
  ParameterValues common;  ///< options that every method has: common_parameters()
  /// strategy.KEY=VALUE, without the prefix. Only the strategies know which keys there are (strategy/strategy.hpp).
  std::map<std::string, std::string> strategy_options;
  /// sampler.KEY=VALUE in the same way (sampling/batch_sampler.hpp).
  std::map<std::string, std::string> sampler_options;

  /// The value of lr=, or the job's rate times the method's learning_rate_scale.
  double learning_rate(double job_rate) const;
};

/// The choice of a strategy or sampler. The method makes it, or leaves it to the job.
struct ChosenPart {
  std::string owner;  ///< who made the choice, for error messages
  SpecPart part;
};
/// `kind`: "strategy" or "sampler". `options`: the method's options for this part. `job`: the job's choice, as
/// name:key=value. Throws Error if it is malformed.
ChosenPart choose_part(const MethodSpec& method, const std::string& kind,
                       const std::map<std::string, std::string>& options, const std::string& job);

/// Options that every method accepts, with the defaults that `info` declares.
std::vector<Parameter> common_parameters(const Info& info);

}  // namespace gradcomp
