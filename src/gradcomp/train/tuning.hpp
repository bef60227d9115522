#pragma once
// Learning rates by short runs, the same budget for every method: a comparison at one common rate would favour the
// methods that happen to like it. Nothing here sees the test set, or a seed that results report.
#include <functional>

#include "gradcomp/train/job.hpp"
#include "gradcomp/train/rates.hpp"

namespace gradcomp::train {

/// Trains every contender but the bound at options.tune_trials rates (next_rate(), around the contender's own), each
/// for options.tune_steps steps (the decay of the rate runs over these) with every one of options.trial_seeds(), and
/// adds what `rates` lacks. `added` is called on every rank after each trial. Collective.
void tune(const Exec& exec, const Job& job, const std::vector<Contender>& contenders, Rates& rates,
          const std::function<void()>& added);

/// Trials that tune() makes of nothing.
index_t trial_count(const Options& options, const std::vector<Contender>& contenders);

/// The rate to try after `trials`: 1, 1/2 and 2 times `start`, then beyond the best one while it lies at an edge (by a
/// factor of two), else halfway (of logarithms) to the neighbour that is farther away. Where all diverged: a quarter of
/// the lowest.
double next_rate(const Rates& rates, const std::string& method, double start);

}  // namespace gradcomp::train
