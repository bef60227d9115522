#pragma once
// The same gradient again and again, with fresh random numbers: whether a method is unbiased, and how much of a
// gradient one step with error feedback takes away.
#include <vector>

#include "gradcomp/evaluate/one_rank_run.hpp"

namespace gradcomp::evaluate {

/// One entry per trial.
struct Trials {
  std::vector<double> bias;         ///< <decoded, a> / ||a||^2 - 1: 0 in the mean where E[decoded] = a
  std::vector<double> contraction;  ///< 1 - ||a - decoded||^2 / ||a||^2, a fed back where the method takes a residual
};

/// Mean of `bias` in units of its standard error: within about +-3 of an unbiased method. NaN where all trials agree,
/// as those of a method without random numbers do.
double bias_z(const Trials& trials);

/// Appends `count` trials of `method` on `gradient`, with the random numbers of steps 0 .. count - 1, from a fresh
/// state each. `fed_back`: the same method with feedback=residual, or null.
void run_trials(const Exec& exec, const MethodSpec& method, const MethodSpec* fed_back, const Layout& layout,
                const Span<const float>& gradient, std::uint64_t seed, index_t count, Trials& trials);

}  // namespace gradcomp::evaluate
