#pragma once
// A chosen method: the result of the parser of specs (method/spec.hpp), and everything that the layers below read of
// it.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gradcomp/core/compressor.hpp"
#include "gradcomp/core/spec_part.hpp"

namespace gradcomp {

/// A parsed and validated spec: five choices (compressor, feedback, reducer, strategy, sampler) and their options.
struct MethodSpec {
  std::string text;       ///< as typed
  std::string canonical;  ///< defaults filled in
  std::string label;      ///< for tables: label=..., otherwise the text
  std::shared_ptr<const Compressor> compressor;
  ParameterValues common;  ///< of every method: common_parameters()
  /// strategy.KEY=VALUE, without the prefix: only the strategies know which there are (strategy/strategy.hpp).
  std::map<std::string, std::string> strategy_options;
  /// The same of sampler.KEY=VALUE (sampling/batch_sampler.hpp).
  std::map<std::string, std::string> sampler_options;

  /// lr=... of the spec, or the job's rate times the method's learning_rate_scale.
  double learning_rate(double job_rate) const;
};

/// The choice of a strategy or sampler: that of the method, or that of the job if the method leaves it to the job.
struct ChosenPart {
  std::string owner;  ///< whose choice it is: for error messages
  SpecPart part;
};
/// `kind`: "strategy" or "sampler"; `options`: the method's of that kind; `job`: the job's choice, name:key=value.
ChosenPart choose_part(const MethodSpec& method, const std::string& kind,
                       const std::map<std::string, std::string>& options, const std::string& job);

/// Options that every method accepts, with the defaults that `info` declares.
std::vector<Parameter> common_parameters(const Info& info);

}  // namespace gradcomp
