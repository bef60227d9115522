#pragma once
// Quality first: who may show a speed-up. Pure arithmetic, apart from the trainer so that it can be tested.
#include <optional>
#include <string>
#include <vector>

namespace gradcomp::train {

/// What one method achieved in a comparison.
struct Outcome {
  std::string method;    ///< registry name
  bool control = false;  ///< family control: fp32, fp16, bf16, none
  bool bound = false;    ///< `none`: its replicas do not agree, its step time is a bound and no result
  double accuracy = 0;   ///< on the test set, 0 to 1
  double step_time = 0;  ///< median, any unit
  bool replicas_equal = true;
};

/// Speed-ups of one method; empty where its quality does not match or the control is missing.
struct Verdict {
  bool quality_matched = false;
  std::optional<double> speedup_vs_fp32;
  std::optional<double> speedup_vs_best_dense;
};

/// One verdict per outcome. Quality is matched when the accuracy is at least fp32's minus `tolerance` and all replicas
/// agree. The best dense control is the fastest of fp32, fp16 and bf16 that itself matches. Without fp32 nothing does.
std::vector<Verdict> judge(const std::vector<Outcome>& outcomes, double tolerance);

}  // namespace gradcomp::train
