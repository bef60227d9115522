#pragma once
// The reduction alone, as nccl-tests measures it: one gradient of a given size, reduced again and again by one method,
// timed as the slowest rank sees it, and verified outside the timed region.
#include <string>
#include <utility>
#include <vector>

#include "gradcomp/comm/transport.hpp"
#include "gradcomp/exchange/exchange.hpp"

namespace gradcomp {

struct ReductionOptions {
  index_t repetitions = 20;
  index_t untimed = 3;  ///< repetitions before the timed ones
  std::uint64_t seed = 1;
  bool overlapped = false;
  double limit_seconds = 0;  ///< ExchangeOptions::limit_seconds
};

/// Medians over repetitions: of the fastest rank's times, of the mean over ranks, of the slowest rank's.
struct RankTimes {
  double minimum = 0, mean = 0, maximum = 0;
};

struct ReductionResult {
  std::vector<double> times_ms;       ///< one per repetition: the maximum over ranks
  RankTimes rank_times;               ///< milliseconds
  StepReport report;                  ///< bytes of one step
  std::vector<double> density_ratio;  ///< achieved / target density, all segments and timed repetitions of this rank
  double relative_error = 0;          ///< ||out - mean gradient|| / ||mean gradient|| of a first step

  /// Elements, over all ranks, where the last timed repetition is wrong (reduction_check.hpp).
  index_t wrong = 0;
};

/// Measures `method` on layer_like(elements) with Laplace-distributed gradients that differ between ranks. `transport`
/// carries the reduction (it may be an emulated link), `control` the barriers and checks.
ReductionResult measure_reduction(const Exec& exec, const std::string& method, index_t elements, Transport& transport,
                                  Transport& control, const ReductionOptions& options);

/// Squared distance of x to y and squared norm of y, which have equal extents.
std::pair<double, double> distance(const Exec& exec, const Span<const float>& x, const Span<const float>& y);

}  // namespace gradcomp
