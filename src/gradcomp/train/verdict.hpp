#pragma once
// Quality first: who may show a speed-up. Pure arithmetic, apart from the trainer so that it can be tested.
#include <optional>
#include <string>
#include <vector>

#include "gradcomp/train/metric.hpp"

namespace gradcomp::train {

/// What one method achieved in a comparison.
struct Outcome {
  std::string method;    ///< registry name
  bool control = false;  ///< family control: fp32, fp16, bf16, none
  bool bound = false;    ///< `none`: its replicas do not agree, its step time is a bound and no result
  double quality = 0;    ///< on the test set, by the metric
  double step_time = 0;  ///< median, any unit
  bool replicas_equal = true;
  bool missed_target = false;                 ///< the job has a target, and it was not reached
  std::optional<double> time_to_target = {};  ///< any unit; none without a target or where it was missed
};

/// Speed-ups of one method; empty where its quality does not match or the control is missing.
struct Verdict {
  bool quality_matched = false;
  std::optional<double> speedup_vs_fp32;
  std::optional<double> speedup_vs_best_dense;
  std::optional<double> speedup_to_target;  ///< fp32's time to the target over the method's
};

/// One verdict per outcome. Quality is matched when it reaches fp32's within `tolerance` (Metric::bound) and all
/// replicas agree. The best dense control is the fastest of fp32, fp16 and bf16 that itself matches. Without fp32
/// nothing does. A method that missed the job's target shows no speed-up; nor is a control that missed it the best.
std::vector<Verdict> judge(const std::vector<Outcome>& outcomes, const Metric& metric, double tolerance);

}  // namespace gradcomp::train
