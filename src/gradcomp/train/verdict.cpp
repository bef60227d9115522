#include "gradcomp/train/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gradcomp/train/mean_interval.hpp"

namespace gradcomp::train {
namespace {

using Role = Entrant::Role;

const Entrant* find(const std::vector<Entrant>& entrants, Role role) {
  const auto found =
      std::find_if(entrants.begin(), entrants.end(), [role](const Entrant& e) { return e.role == role; });
  return found == entrants.end() ? nullptr : &*found;
}

bool sound(const Entrant& entrant) {
  return std::all_of(entrant.seeds.begin(), entrant.seeds.end(),
                     [](const Outcome& o) { return o.replicas_equal && std::isfinite(o.quality); });
}

/// Whether more than half of the seeds did.
bool reached_target(const Entrant& entrant) {
  const auto reached =
      std::count_if(entrant.seeds.begin(), entrant.seeds.end(), [](const Outcome& o) { return o.reached_target; });
  return 2 * static_cast<std::size_t>(reached) > entrant.seeds.size();
}

bool matches(const Entrant& entrant, const Entrant& reference, const Rules& rules) {
  if (entrant.role == Role::bound || !sound(entrant)) return false;
  std::vector<double> lacks;
  for (std::size_t s = 0; s < entrant.seeds.size(); ++s) {
    lacks.push_back(rules.metric.lack(entrant.seeds[s].quality, reference.seeds[s].quality));
  }
  return MeanInterval(lacks).upper() <= rules.metric.limit(rules.tolerance);
}

double total_time(const Entrant& entrant) {
  double sum = 0;
  for (const Outcome& o : entrant.seeds) sum += o.step_time;
  return sum;
}

/// The dense control to beat; none if it is unknown.
const Entrant* best_dense(const std::vector<Entrant>& entrants, const Rules& rules) {
  const Entrant* best = nullptr;
  for (const Role role : {Role::fp32, Role::fp16, Role::bf16}) {
    const Entrant* control = find(entrants, role);
    if (control == nullptr || !rules.buckets_swept) return nullptr;
    if (best == nullptr || total_time(*control) < total_time(*best)) best = control;
  }
  return best;
}

}  // namespace

std::vector<double> Verdict::over_seeds(std::optional<double> SpeedUps::* which) const {
  std::vector<double> values;
  for (const SpeedUps& speed : seeds) {
    if (!(speed.*which)) return {};
    values.push_back(*(speed.*which));
  }
  return values;
}

std::string no_reference(const std::vector<Entrant>& entrants, const Rules& rules) {
  const Entrant* reference = find(entrants, Role::fp32);
  if (reference == nullptr) return "the job has no fp32 without options";
  for (const Outcome& o : reference->seeds) {
    if (o.diverged_at) return fmt::format("fp32 diverged at step {}", *o.diverged_at);
  }
  if (!sound(*reference)) return "fp32 diverged";
  if (rules.target) return reached_target(*reference) ? "" : "fp32 missed the target";
  for (const Outcome& o : reference->seeds) {
    if (rules.metric.learned(o.quality, rules.trivial, rules.tolerance)) continue;
    return fmt::format("fp32 has learned too little: its {} is {}, and a predictor that looks at no input has {}",
                       rules.metric.name, rules.metric.text(o.quality),
                       rules.metric.text(rules.metric.of(rules.trivial)));
  }
  return "";
}

std::vector<Verdict> judge(const std::vector<Entrant>& entrants, const Rules& rules) {
  std::vector<Verdict> verdicts(entrants.size());
  for (std::size_t i = 0; i < entrants.size(); ++i) verdicts[i].seeds.resize(entrants[i].seeds.size());
  if (!no_reference(entrants, rules).empty()) return verdicts;

  const Entrant &reference = *find(entrants, Role::fp32), *dense = best_dense(entrants, rules);
  for (std::size_t i = 0; i < entrants.size(); ++i) {
    const Entrant& entrant = entrants[i];
    verdicts[i].quality_matched = matches(entrant, reference, rules);
    if (!verdicts[i].quality_matched || (rules.target && !reached_target(entrant))) continue;
    for (std::size_t s = 0; s < entrant.seeds.size(); ++s) {
      const Outcome &own = entrant.seeds[s], &fp32 = reference.seeds[s];
      SpeedUps& speed = verdicts[i].seeds[s];
      speed.vs_fp32 = fp32.step_time / own.step_time;
      if (dense != nullptr) speed.vs_best_dense = dense->seeds[s].step_time / own.step_time;
      if (fp32.time_to_target && own.time_to_target) speed.to_target = *fp32.time_to_target / *own.time_to_target;
    }
  }
  return verdicts;
}

}  // namespace gradcomp::train
