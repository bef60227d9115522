#pragma once
// --target: a quality to be reached, and what reaching it took.
#include <optional>
#include <string>

#include "gradcomp/core/types.hpp"
#include "gradcomp/train/metric.hpp"

namespace gradcomp::train {

/// What a method had spent at the first evaluation that reached the target: maxima over ranks.
struct Reached {
  index_t steps = 0;
  double time_s = 0;      ///< of training, evaluations excluded
  double wire_bytes = 0;  ///< sent by a rank
};

/// The value of "accuracy=0.90" or "perplexity=60"; none of an empty text. Throws Error for anything else, and where
/// `metric` is another one.
std::optional<double> target_value(const std::string& text, const Metric& metric);

}  // namespace gradcomp::train
