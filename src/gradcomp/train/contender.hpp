#pragma once
// One line of a comparison: a method, or a control made of one, and how it is trained.
#include <optional>
#include <string>
#include <vector>

#include "gradcomp/exchange/method_spec.hpp"
#include "gradcomp/train/options.hpp"
#include "gradcomp/train/verdict.hpp"

namespace gradcomp::train {

/// What finding a learning rate cost.
struct TuningCost {
  index_t steps = 0;
  double seconds = 0;
};

struct Contender {
  MethodSpec spec;
  double learning_rate = 0;
  std::optional<TuningCost> tuning = {};   ///< where the rate comes from a file
  std::optional<index_t> bucket_kib = {};  ///< of its own; 0: sizes that follow from the model; none: the job's

  /// `no_exchange`: its replicas do not agree, its step time is a bound.
  bool is_bound() const { return spec.common.text("reducer") == "local"; }

  /// A dense control with any option is a method like others: an option could handicap it.
  Entrant::Role role() const;
};

/// The methods with the rates of their specs; with options.accumulate > 1 fp32 a second time, as a control that
/// exchanges every so many steps.
std::vector<Contender> contenders(const Options& options, const std::vector<MethodSpec>& methods);

}  // namespace gradcomp::train
