#pragma once
// Finds learning rates by short runs, with the same budget for every method: a comparison at one common rate would
// favour the methods that this rate suits. Tuning never sees the test set, or a seed of results.
#include <functional>

#include "gradcomp/train/job.hpp"
#include "gradcomp/tune/rates.hpp"

namespace gradcomp::tune {

/// The contenders whose rates are tried, once each: without the bound, and with fp32 in the place of the other dense
/// controls (train::Contender::tuned_as()).
std::vector<train::Contender> tried(const std::vector<train::Contender>& contenders);

/// Trains every contender of tried() at options.trials rates (next_rate(), around the contender's own). Each
/// trial has options.steps steps, over which the rate decays, with each of options.trial_seeds(). Adds the trials that
/// `rates` does not have yet. `added` is called on every rank after each trial. Collective.
void tune(const Exec& exec, const Options& options, const train::Job& job,
          const std::vector<train::Contender>& contenders, Rates& rates, const std::function<void()>& added);

/// The rate to try after `trials`. First 1, 1/2 and 2 times `start`. Then, if the best rate is the lowest or highest,
/// the next one beyond it (by a factor of two), else the one halfway, in logarithms, to its farther neighbour. If all
/// trials diverged, a quarter of the lowest rate.
double next_rate(const Rates& rates, const std::string& method, double start);

}  // namespace gradcomp::tune
