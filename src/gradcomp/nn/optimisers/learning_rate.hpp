#pragma once
// The learning rate as a function of the step.
#include <string>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp::nn {

/// How the rate falls after the warm-up.
enum class Decay {
  constant,
  cosine,  ///< rate (1 + cos(pi s / S)) / 2 in step s of the S steps after the warm-up (Loshchilov and Hutter 2017)
  step,    ///< at each milestone, the rate is multiplied by `factor`
};

/// The Decay called constant, cosine or step. Throws Error that lists these names for any other name.
Decay decay_from_name(const std::string& name);

/// A linear warm-up to `rate` (Goyal et al. 2017), then `decay`.
struct LearningRate {
  Decay decay = Decay::constant;
  double rate = 0.1;    ///< the largest rate
  index_t steps = 0;    ///< number of steps of the run, for Decay::cosine and Decay::step
  index_t warmup = 0;   ///< number of warm-up steps; step w < warmup has the rate (w + 1) / warmup x rate
  double factor = 0.1;  ///< for Decay::step
  std::vector<double> milestones = {};  ///< for Decay::step, as parts of `steps`, e.g. 0.5 and 0.75

  /// Learning rate of step `index` = 0, 1, ...
  double at(index_t index) const;
};

}  // namespace gradcomp::nn
