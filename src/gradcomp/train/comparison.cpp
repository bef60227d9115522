#include "gradcomp/train/comparison.hpp"

#include <algorithm>
#include <memory>

namespace gradcomp::train {

std::vector<MethodResult> compare(const Exec& exec, const Job& job, const std::vector<MethodSpec>& methods,
                                  const std::function<void(const std::string&)>& progress) {
  std::vector<std::unique_ptr<Trainer>> trainers;
  for (const auto& method : methods) trainers.push_back(std::make_unique<Trainer>(job, method));

  const index_t steps = job.options.steps, interval = job.options.evaluation_interval();
  for (index_t begin = 0; begin < steps; begin += job.options.block) {
    const index_t end = std::min(begin + job.options.block, steps);
    for (std::size_t m = 0; m < trainers.size(); ++m) {
      for (index_t step = begin; step < end; ++step) {
        // The first step of a block finds another method's data in the caches.
        trainers[m]->step(exec, step == begin && end - begin > 1);
        if ((step + 1) % interval == 0 || step + 1 == steps) trainers[m]->evaluate(exec);
        progress(methods[m].label);
      }
    }
  }

  std::vector<MethodResult> results;
  for (auto& trainer : trainers) results.push_back(trainer->finish());
  return results;
}

}  // namespace gradcomp::train
