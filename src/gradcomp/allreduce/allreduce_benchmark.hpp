#pragma once
// A benchmark of the reduction alone, as in nccl-tests: one method reduces one gradient of a given size again and
// again. Times are those of the slowest rank, and results are checked outside the timed region.
#include <string>
#include <utility>
#include <vector>

#include "gradcomp/comm/transport.hpp"
#include "gradcomp/exchange/exchange.hpp"

namespace gradcomp {

struct ReductionOptions {
  index_t repetitions = 20;
  index_t untimed = 3;  ///< number of repetitions before the timed ones
  std::uint64_t seed = 1;
  bool overlapped = false;
  double limit_seconds = 0;  ///< ExchangeOptions::limit_seconds
};

/// Medians over repetitions: of the fastest rank's time, of the mean over ranks, and of the slowest rank's time.
struct RankTimes {
  double minimum = 0, mean = 0, maximum = 0;
};

struct ReductionResult {
  std::vector<double> times_ms;       ///< one per repetition: the maximum over ranks
  RankTimes rank_times;               ///< in milliseconds
  StepReport report;                  ///< bytes of one step
  std::vector<double> density_ratio;  ///< achieved / target density of all segments and timed repetitions on this rank
  double relative_error = 0;          ///< ||out - exact mean|| / ||exact mean|| of the first step

  /// Number of elements, over all ranks, that are wrong in the last timed repetition (reduction_check.hpp).
  index_t wrong = 0;
};

/// Measures `method` on layer_like(elements) with Laplace-distributed gradients that differ between ranks. `transport`
/// carries the reduction and may be an emulated link; `control` carries the barriers and checks. Collective.
ReductionResult measure_reduction(const Exec& exec, const std::string& method, index_t elements, Transport& transport,
                                  Transport& control, const ReductionOptions& options);

/// About how many bytes of memory one of `ranks` takes for measure_reduction(), with the check. Between 15 and 42 bytes
/// per element were measured on two ranks; ranks that gather payloads hold those of all.
double reduction_bytes(const MethodSpec& method, index_t elements, int ranks);

/// The squared distance of x and y, and the squared norm of y. Both have the same extent.
std::pair<double, double> distance(const Exec& exec, const Span<const float>& x, const Span<const float>& y);

}  // namespace gradcomp
