#pragma once
// --target: a quality to be reached, and the cost of reaching it.
#include <optional>
#include <string>

#include "gradcomp/core/types.hpp"
#include "gradcomp/train/metric.hpp"

namespace gradcomp::train {

/// What a method had spent at the first evaluation that reached the target; maxima over ranks.
struct Reached {
  index_t steps = 0;
  double time_s = 0;      ///< training time without evaluations
  double wire_bytes = 0;  ///< bytes that one rank sent
};

/// The value of "accuracy=0.90" or "perplexity=60"; none for an empty text. Throws Error for any other text, and if
/// `metric` has another name.
std::optional<double> target_value(const std::string& text, const Metric& metric);

}  // namespace gradcomp::train
