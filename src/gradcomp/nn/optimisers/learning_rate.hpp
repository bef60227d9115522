#pragma once
// Learning rate as a function of the step.
#include <string>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp::nn {

enum class Decay {
  constant,
  cosine,  ///< rate (1 + cos(pi s / S)) / 2 over the S steps behind the warm-up (Loshchilov and Hutter 2017)
  step,    ///< times `factor` at each milestone
};

/// Throws Error listing the names when `name` is none of constant, cosine, step.
Decay decay_from_name(const std::string& name);

/// A linear warm-up to `rate` (Goyal et al. 2017), then `decay`.
struct LearningRate {
  Decay decay = Decay::constant;
  double rate = 0.1;                    ///< largest rate
  index_t steps = 0;                    ///< of the whole run; cosine needs it
  index_t warmup = 0;                   ///< steps; step w < warmup has rate (w + 1) / warmup of the whole
  double factor = 0.1;                  ///< of Decay::step
  std::vector<double> milestones = {};  ///< of Decay::step, as parts of `steps`, e.g. 0.5 and 0.75

  /// Learning rate of step `index` = 0, 1, ...
  double at(index_t index) const;
};

}  // namespace gradcomp::nn
