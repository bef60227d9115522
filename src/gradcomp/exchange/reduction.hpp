#pragma once
// The reduction alone, as nccl-tests measures it: one gradient of a given size, reduced again and again by one method,
// timed as the slowest rank sees it, and verified outside the timed region.
#include <string>
#include <vector>

#include "gradcomp/comm/communicator.hpp"
#include "gradcomp/exchange/schedule.hpp"

namespace gradcomp {

struct ReductionOptions {
  index_t repetitions = 20;
  index_t warmup = 3;
  std::uint64_t seed = 1;
  std::string schedule = "synchronous";
};

struct ReductionResult {
  std::vector<double> times_ms;       ///< one per repetition: the maximum over ranks
  StepReport report;                  ///< bytes of one step
  std::vector<double> density_ratio;  ///< achieved / target density, all segments and timed repetitions of this rank
  double relative_error = 0;          ///< ||out - mean gradient|| / ||mean gradient|| of a first step

  /// Elements, over all ranks, where a first step breaks the identity that every method must satisfy, whatever it drops
  /// or rounds: out = mean over ranks of (gradient - residual) - what owners keep (two_phase), when it feeds its error
  /// back from an empty memory. Of a method that takes no residual: elements that are not finite, or no signs where it
  /// sends those.
  index_t wrong = 0;
};

/// A gradient of `elements` values shaped like a layer: the largest matrix of 2^j columns that is no wider than tall,
/// and the rest as a vector, so that low-rank methods have something to factor.
Layout layer_like(index_t elements);

/// Measures `method` on layer_like(elements) with Laplace-distributed gradients that differ between ranks. `comm`
/// carries the reduction (it may be an emulated link), `control` the barriers and checks.
ReductionResult measure_reduction(const Exec& exec, const std::string& method, index_t elements, Communicator& comm,
                                  Communicator& control, const ReductionOptions& options);

/// `spec` with the option `key` of its first part set to `value`: replaced where it is given, appended where it is not.
std::string with_option(const std::string& spec, const std::string& key, const std::string& value);

}  // namespace gradcomp
