#pragma once
// One line of a comparison: a method, or a control made of one, and how it is trained.
#include <optional>
#include <string>
#include <vector>

#include "gradcomp/exchange/spec.hpp"
#include "gradcomp/train/options.hpp"

namespace gradcomp::train {

/// What finding a learning rate cost.
struct TuningCost {
  index_t steps = 0;
  double seconds = 0;
};

struct Contender {
  MethodSpec spec;
  double learning_rate = 0;
  std::optional<TuningCost> tuning;  ///< where the rate comes from a file

  /// It exchanges the gradient of every step, as controls do.
  bool every_step() const;

  /// `none`: its replicas do not agree, its step time is a bound.
  bool is_bound() const { return spec.common.text("reducer") == "local"; }
};

/// The methods with the rates of their specs; with options.accumulate > 1 fp32 a second time, as a control that
/// exchanges every so many steps.
std::vector<Contender> contenders(const Options& options, const std::vector<MethodSpec>& methods);

}  // namespace gradcomp::train
