#pragma once
// Quality first: who may show a speed-up. Pure arithmetic, apart from the trainer so that it can be tested.
#include <optional>
#include <string>
#include <vector>

#include "gradcomp/train/metric.hpp"

namespace gradcomp::train {

/// What one method achieved with one seed.
struct Outcome {
  double quality = 0;    ///< on the test set, by the metric
  double step_time = 0;  ///< mean over the timed steps, any unit: their total time decides, not their median
  bool replicas_equal = true;
  bool reached_target = false;                ///< of the job; false without one
  std::optional<double> time_to_target = {};  ///< any unit; none without a target or where it was missed
};

/// A method of a comparison and what it achieved with every seed, in their order.
struct Entrant {
  /// fp32, fp16, bf16: the dense controls as they are, without options. bound: its replicas do not agree, its step time
  /// is a bound and no result.
  enum class Role { method, bound, fp32, fp16, bf16 };

  Role role = Role::method;
  std::vector<Outcome> seeds;
};

/// What a comparison is judged by.
struct Rules {
  Metric metric;
  double tolerance = 0;        ///< Metric::limit
  Trivial trivial = {};        ///< of the test set
  bool target = false;         ///< the job has one
  bool buckets_swept = false;  ///< the dense controls run at their best bucket sizes
};

/// Speed-ups of one method with one seed.
struct SpeedUps {
  std::optional<double> vs_fp32, vs_best_dense;
  std::optional<double> to_target;  ///< fp32's time to the target over the method's
};

struct Verdict {
  bool quality_matched = false;
  std::vector<SpeedUps> seeds;  ///< as many as the entrant has; all empty unless the quality is matched

  /// One speed-up with every seed; nothing where some seed lacks it: a mean over the lucky ones would flatter.
  std::vector<double> over_seeds(std::optional<double> SpeedUps::* which) const;
};

/// Why there are no verdicts at all; empty where there are. fp32 must be there as it is, train to finite qualities with
/// equal replicas, and reach the job's target or, without one, be clearly better than the trivial predictor
/// (Metric::learned), each with every seed.
std::string no_reference(const std::vector<Entrant>& entrants, const Rules& rules);

/// One verdict per entrant. Quality is matched when what it lacks to fp32 with the same seed is within the tolerance
/// (with several seeds: the upper end of the mean's 95 % interval), and all replicas agree. The best dense control is
/// the one of fp32, fp16 and bf16 whose steps take the least time over all seeds, whatever its quality: a control that
/// misses by noise stays the one to beat. Where one of the three is missing, or their buckets are not the best ones,
/// there is no such column. With a target, a method that missed it with some seed shows no speed-up.
std::vector<Verdict> judge(const std::vector<Entrant>& entrants, const Rules& rules);

}  // namespace gradcomp::train
