#pragma once
// Monitors methods with a target density: achieved / target density over all segments and steps.
#include <optional>
#include <string>
#include <vector>

#include "gradcomp/comm/transport.hpp"

namespace gradcomp {

/// Statistics of achieved / target density. All but `count` are NaN without samples.
struct DensityStatistics {
  explicit DensityStatistics(const std::vector<double>& ratios);

  index_t count = 0;
  double mean, std;  ///< std: standard deviation of the population
  double rms;        ///< root mean square of (ratio - 1), which combines bias and spread
  double p5, p50, p95, max;
};

/// The medians of all ranks.
struct DensityMedian {
  double lowest, highest;  ///< the extremes over ranks
  index_t samples;         ///< of the rank with the most samples
};

/// Collective. The medians of `ratios`; a rank may have no ratios (a dedicated server).
DensityMedian density_median(Transport& comm, const std::vector<double>& ratios);

/// Empty if all medians are in [1 - tolerance, 1 + tolerance], if tolerance is 0 (off), or if there are no samples.
/// Otherwise one line that names the method, the statistic and what is allowed.
std::optional<std::string> density_failure(const std::string& method, const DensityMedian& median, double tolerance);

/// The same for the ratios of the only rank.
std::optional<std::string> density_failure(const std::string& method, const std::vector<double>& ratios,
                                           double tolerance);

}  // namespace gradcomp
