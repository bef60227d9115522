#pragma once
// Decides which methods may show a speed-up: only those that match the quality of fp32. Pure arithmetic, separate from
// the trainer so that it can be tested.
#include <optional>
#include <string>
#include <vector>

#include "gradcomp/train/metric.hpp"

namespace gradcomp::train {

/// What one method achieved with one seed.
struct Outcome {
  double quality = 0;    ///< on the test set, by the metric
  double step_time = 0;  ///< mean over the timed steps, in any unit; the total time decides, not the median
  bool replicas_equal = true;
  bool reached_target = false;                ///< the job's target; false without one
  std::optional<double> time_to_target = {};  ///< in any unit; none without a target or if it was missed
  std::optional<index_t> diverged_at = {};    ///< the step that ended the run; the quality is then NaN
};

/// A method of a comparison and what it achieved with each seed, in the order of the seeds.
struct Entrant {
  /// fp32, fp16, bf16: the dense controls without options. bound: its replicas do not agree, and its step time is a
  /// bound, not a result.
  enum class Role { method, bound, fp32, fp16, bf16 };

  Role role = Role::method;
  std::vector<Outcome> seeds;
};

/// The rules by which a comparison is judged.
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
  std::vector<SpeedUps> seeds;  ///< one per seed of the entrant; all empty unless the quality is matched

  /// One speed-up for every seed. Empty if some seed does not have it: a mean over the lucky seeds would flatter.
  std::vector<double> over_seeds(std::optional<double> SpeedUps::* which) const;
};

/// Why there are no verdicts; empty if there are. With every seed, fp32 without options must be there and train to a
/// finite quality with equal replicas. With a target, more than half of its seeds must reach it. Without a target, it
/// must be clearly better than the trivial predictor with every seed (Metric::learned).
std::string no_reference(const std::vector<Entrant>& entrants, const Rules& rules);

/// One verdict per entrant. Its quality is matched if its lack (Metric::lack) to fp32 with the same seed is within the
/// tolerance (with several seeds: the upper end of the mean's 95 % interval), and if all replicas agree. The best dense
/// control is the one of fp32, fp16 and bf16 whose steps take the least time over all seeds, whatever its quality: a
/// control that misses by noise remains the one to beat. If one of the three is missing, or if their buckets are not
/// the best ones, there is no speed-up over it. With a target, a method shows speed-ups only if more than half of its
/// seeds reached it (if all had to, more seeds would make it harder to pass).
std::vector<Verdict> judge(const std::vector<Entrant>& entrants, const Rules& rules);

}  // namespace gradcomp::train
