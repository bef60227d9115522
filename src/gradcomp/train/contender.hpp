#pragma once
// A contender is one line of a comparison: a method or a control, and how it is trained.
#include <optional>
#include <string>
#include <vector>

#include "gradcomp/exchange/method_spec.hpp"
#include "gradcomp/train/options.hpp"

namespace gradcomp::train {

/// What it cost to find a learning rate.
struct TuningCost {
  index_t steps = 0;
  double seconds = 0;
};

struct Contender {
  /// fp32, fp16, bf16: the dense controls without options. bound: its replicas do not agree, and its step time is a
  /// bound, not a result.
  enum class Role { method, bound, fp32, fp16, bf16 };

  MethodSpec spec;
  double learning_rate = 0;
  std::optional<TuningCost> tuning = {};   ///< if the rate comes from a file
  std::optional<index_t> bucket_kib = {};  ///< 0: sizes that follow from the model; none: those of the job
  std::string bucket_sweep = {};           ///< where bucket_kib was timed, if the job has another link or strategy
  Role role = role_of(spec);

  /// True for `no_exchange`: its replicas do not agree, and its step time is a bound.
  bool is_bound() const { return role == Role::bound; }

  /// A dense control with any option counts as a method, because an option could make it slower.
  static Role role_of(const MethodSpec& spec);

  /// The canonical spec under which trials of its rate are kept: its own, but that of fp32 for all controls without
  /// options. They compute the same to a rounding of the mean, so what trials find between them is noise.
  std::string tuned_as() const;
};

/// "method", "bound", "fp32", "fp16" or "bf16".
std::string to_string(Contender::Role role);

/// The methods with the rates of their specs. If options.accumulate > 1, fp32 comes a second time, as a control that
/// exchanges every options.accumulate steps.
std::vector<Contender> contenders(const Options& options, const std::vector<MethodSpec>& methods);

}  // namespace gradcomp::train
