#include "gradcomp/train/tuning.hpp"

#include <chrono>
#include <cmath>

#include "gradcomp/comm/over_ranks.hpp"
#include "gradcomp/train/comparison.hpp"

namespace gradcomp::train {
namespace {

Options trial_options(const Options& options) {
  Options trial = options;
  trial.steps = options.tune_steps;
  trial.warmup = options.warmup * options.tune_steps / options.steps;
  trial.evaluate_every = trial.block = trial.steps;
  trial.dump_folder.clear();
  trial.dump_steps.clear();
  trial.target.clear();
  return trial;
}

}  // namespace

index_t trial_count(const std::vector<Contender>& contenders) {
  index_t count = 0;
  for (const Contender& c : contenders) count += c.is_bound() ? 0 : std::ssize(rate_factors);
  return count;
}

void tune(const Exec& exec, const Job& job, const std::vector<Contender>& contenders, Rates& rates,
          const std::function<void()>& added) {
  using Clock = std::chrono::steady_clock;
  const Options options = trial_options(job.options);
  const Job trial_job{options, job.task, job.model, job.link, job.control};
  for (const Contender& contender : contenders) {
    if (contender.is_bound()) continue;
    for (const double factor : rate_factors) {
      Contender trial = contender;
      trial.learning_rate = factor * contender.learning_rate;
      if (rates.find(trial.spec.canonical, trial.learning_rate) == nullptr) {
        const auto start = Clock::now();
        const MethodResult result = compare(exec, trial_job, {trial}, [](const std::string&) {}).front();
        const std::chrono::duration<double> passed = Clock::now() - start;
        const bool good = result.replicas_equal && std::isfinite(result.test_loss);
        rates.add(trial.spec.canonical,
                  {trial.learning_rate, good ? result.test_quality : std::nan(""),
                   good ? result.test_loss : std::nan(""), max_over_ranks(job.control, {passed.count()})[0]});
      }
      added();
    }
  }
}

}  // namespace gradcomp::train
