#include "gradcomp/train/comparison.hpp"

#include <algorithm>
#include <memory>
#include <numeric>

namespace gradcomp::train {
namespace {

/// Steps between evaluations. The default is rounded up to a multiple of every trainer's evaluation_period(); for an
/// interval that the user chose, check_period() has made sure that it is one.
index_t evaluation_interval(const Options& options, const std::vector<std::unique_ptr<Trainer>>& trainers) {
  index_t period = 1;
  for (const auto& trainer : trainers) period = std::lcm(period, trainer->evaluation_period());
  return (options.evaluation_interval() + period - 1) / period * period;
}

}  // namespace

std::vector<MethodResult> compare(const Exec& exec, const Job& job, const std::vector<Contender>& contenders,
                                  const std::function<void(const std::string&)>& progress,
                                  const Checkpoints* checkpoints) {
  std::vector<std::unique_ptr<Trainer>> trainers;
  for (const auto& contender : contenders) trainers.push_back(std::make_unique<Trainer>(job, contender));

  for (const auto& trainer : trainers) trainer->check_period();
  if (!job.options.batch_folder.empty()) trainers.front()->dump_batches(exec);
  const index_t steps = job.options.steps, block = job.options.block;
  const index_t interval = evaluation_interval(job.options, trainers);
  const index_t restored = checkpoints != nullptr ? checkpoints->restore(exec, job.control, trainers) : 0;
  for (const auto& contender : contenders) {
    for (index_t step = 0; step < restored; ++step) progress(contender.spec.label);
  }
  // Blocks begin at multiples of their length, so that a resumed run has the same ones.
  for (index_t begin = restored; begin < steps;) {
    const index_t end = std::min((begin / block + 1) * block, steps);
    const index_t link = job.links == nullptr ? 0 : job.links->choose(begin / block);
    for (std::size_t m = 0; m < trainers.size(); ++m) {
      trainers[m]->over_link(link);
      trainers[m]->begin_counting();
      for (index_t step = begin; step < end; ++step) {
        progress(contenders[m].spec.label);
        if (trainers[m]->ended()) continue;
        trainers[m]->step(exec, step == begin && first_is_untimed(end - begin, trainers[m]->period()));
        if (!trainers[m]->ended() && ((step + 1) % interval == 0 || step + 1 == steps)) {
          trainers[m]->meet(exec);
          trainers[m]->end_counting();
          trainers[m]->evaluate(exec);
          trainers[m]->begin_counting();
        }
      }
      trainers[m]->meet(exec);
      trainers[m]->end_counting();
    }
    if (checkpoints != nullptr) checkpoints->save(exec, job.control, trainers, begin, end);
    begin = end;
  }

  std::vector<MethodResult> results;
  for (auto& trainer : trainers) results.push_back(trainer->finish(exec));
  return results;
}

}  // namespace gradcomp::train
