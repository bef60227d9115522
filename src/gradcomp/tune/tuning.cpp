#include "gradcomp/tune/tuning.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "gradcomp/comm/over_ranks.hpp"
#include "gradcomp/method/spec.hpp"
#include "gradcomp/train/comparison.hpp"

namespace gradcomp::tune {
namespace {

train::Options trial_options(const Options& options, std::uint64_t seed) {
  train::Options trial = options.train.trial(seed, options.steps);
  trial.warmup = options.train.warmup * options.steps / options.train.steps;
  trial.block = trial.steps;
  return trial;
}

/// Means over the seeds; NaN if one of them diverged.
Trial run_trial(const Exec& exec, const Options& tuning, const train::Job& job, const train::Contender& contender) {
  const auto start = std::chrono::steady_clock::now();
  Trial trial{contender.learning_rate, 0, 0, 0};
  const auto seeds = tuning.trial_seeds();
  for (const std::uint64_t seed : seeds) {
    const train::Options options = trial_options(tuning, seed);
    const train::Job one{options, job.task, job.model, job.transport, job.control};
    const train::MethodResult result = train::compare(exec, one, {contender}, [](const std::string&) {}).front();
    const bool good = result.replicas_equal && std::isfinite(result.validation_loss);
    const double share = good ? 1 / static_cast<double>(seeds.size()) : std::nan("");
    trial.quality += share * result.validation_quality;
    trial.loss += share * result.validation_loss;
  }
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  trial.seconds = max_over_ranks(job.control, {passed.count()})[0];
  return trial;
}

}  // namespace

std::vector<train::Contender> tried(const std::vector<train::Contender>& contenders) {
  std::vector<train::Contender> found;
  for (train::Contender c : contenders) {
    if (c.is_bound()) continue;
    if (c.role != train::Contender::Role::method) c.spec = parse_method("fp32");
    const bool known = std::any_of(found.begin(), found.end(),
                                   [&](const auto& other) { return other.spec.canonical == c.spec.canonical; });
    if (!known) found.push_back(std::move(c));
  }
  return found;
}

double next_rate(const Rates& rates, const std::string& method, double start) {
  for (const double factor : {1.0, 0.5, 2.0}) {
    if (rates.find(method, factor * start) == nullptr) return factor * start;
  }
  std::vector<double> tried;
  for (const Trial& trial : rates.trials(method)) tried.push_back(trial.rate);
  std::sort(tried.begin(), tried.end());
  const Trial* const best = rates.best(method);
  if (best == nullptr) return tried.front() / 4;
  const auto at = std::find(tried.begin(), tried.end(), best->rate);
  if (at == tried.begin()) return best->rate / 2;
  if (at + 1 == tried.end()) return best->rate * 2;
  const double below = *(at - 1), above = *(at + 1);
  return std::sqrt(best->rate * (best->rate / below > above / best->rate ? below : above));
}

void tune(const Exec& exec, const Options& options, const train::Job& job,
          const std::vector<train::Contender>& contenders, Rates& rates, const std::function<void()>& added) {
  for (const train::Contender& contender : tried(contenders)) {
    const std::string& method = contender.spec.canonical;
    for (index_t t = 0; t < options.trials; ++t) {
      if (t >= std::ssize(rates.trials(method))) {
        train::Contender trial = contender;
        trial.learning_rate = next_rate(rates, method, contender.learning_rate);
        rates.add(method, run_trial(exec, options, job, trial));
      }
      added();
    }
  }
}

}  // namespace gradcomp::tune
