#pragma once
// Learning rates by a small fixed grid, the same budget for every method: a comparison at one common rate would favour
// the methods that happen to like it.
#include <array>
#include <functional>

#include "gradcomp/train/job.hpp"
#include "gradcomp/train/rates.hpp"

namespace gradcomp::train {

/// Factors around a method's default rate (its spec's lr=, or the job's times the method's scale).
inline constexpr std::array<double, 4> rate_factors = {0.25, 0.5, 1, 2};

/// Trains every contender but the bound with every factor for options.tune_steps steps (the decay of the rate runs over
/// these) and one seed, and adds what `rates` lacks. `added` is called on every rank after each trial. Collective.
void tune(const Exec& exec, const Job& job, const std::vector<Contender>& contenders, Rates& rates,
          const std::function<void()>& added);

/// Trials that tune() makes of nothing.
index_t trial_count(const std::vector<Contender>& contenders);

}  // namespace gradcomp::train
