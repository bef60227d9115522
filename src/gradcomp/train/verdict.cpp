#include "gradcomp/train/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gradcomp::train {

std::vector<Verdict> judge(const std::vector<Outcome>& outcomes, const Metric& metric, double tolerance) {
  std::vector<Verdict> verdicts(outcomes.size());
  const auto reference = std::find_if(outcomes.begin(), outcomes.end(),
                                      [](const Outcome& o) { return o.method == "fp32" && o.replicas_equal; });
  if (reference == outcomes.end() || !std::isfinite(reference->quality)) return verdicts;

  const double bound = metric.bound(reference->quality, tolerance);
  double best_dense = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const Outcome& o = outcomes[i];
    verdicts[i].quality_matched = !o.bound && o.replicas_equal && metric.reaches(o.quality, bound);
    if (o.control && verdicts[i].quality_matched && !o.missed_target) best_dense = std::min(best_dense, o.step_time);
  }
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (!verdicts[i].quality_matched || outcomes[i].missed_target) continue;
    verdicts[i].speedup_vs_fp32 = reference->step_time / outcomes[i].step_time;
    if (std::isfinite(best_dense)) verdicts[i].speedup_vs_best_dense = best_dense / outcomes[i].step_time;
    if (reference->time_to_target && outcomes[i].time_to_target) {
      verdicts[i].speedup_to_target = *reference->time_to_target / *outcomes[i].time_to_target;
    }
  }
  return verdicts;
}

}  // namespace gradcomp::train
