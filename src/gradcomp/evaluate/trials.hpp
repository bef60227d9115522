#pragma once
// Compresses the same gradient again and again with fresh random numbers, to see whether a method is unbiased, and how
// much of a gradient one step with error feedback sends.
#include <vector>

#include "gradcomp/evaluate/one_rank_run.hpp"

namespace gradcomp::evaluate {

/// One entry per trial.
struct Trials {
  std::vector<double> bias;  ///< <decoded, a> / ||a||^2 - 1; its mean is 0 if E[decoded] = a
  std::vector<double>
      contraction;  ///< 1 - ||a - decoded||^2 / ||a||^2, with the feedback of a residual if the method takes it
};

/// Mean of `bias` in units of its standard error: within about +-3 for an unbiased method. NaN if all trials agree, as
/// they do without random numbers.
double bias_z(const Trials& trials);

/// Appends `count` trials of `method` on `gradient`, with the random numbers of steps 0 .. count - 1. Each starts from
/// a fresh state. `fed_back`: the same method with feedback=residual, or null.
void run_trials(const Exec& exec, const MethodSpec& method, const MethodSpec* fed_back, const Layout& layout,
                const Span<const float>& gradient, std::uint64_t seed, index_t count, Trials& trials);

}  // namespace gradcomp::evaluate
