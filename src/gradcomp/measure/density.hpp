#pragma once
// The quality monitor of methods with a target density: achieved / target density over all segments and steps.
#include <optional>
#include <string>
#include <vector>

#include "gradcomp/comm/transport.hpp"

namespace gradcomp {

/// Statistics of achieved / target density. NaN without samples.
struct DensityStatistics {
  explicit DensityStatistics(const std::vector<double>& ratios);

  index_t count = 0;
  double mean, std;  ///< std: of the population
  double rms;        ///< root mean square of (ratio - 1): bias and spread together
  double p5, p50, p95, max;
};

/// Median and sample count over all ranks, or of the only one.
struct DensityMedian {
  double lowest, highest;  ///< over ranks
  index_t samples;         ///< of the rank with the most
};

/// The median of `ratios`; a rank may have none (a dedicated server). Collective.
DensityMedian density_median(Transport& comm, const std::vector<double>& ratios);

/// Empty if `median` is in [1 - tolerance, 1 + tolerance], if tolerance is 0 (off), or without samples. Otherwise one
/// line that names the method, the statistic and what is allowed.
std::optional<std::string> density_failure(const std::string& method, const DensityMedian& median, double tolerance);

/// The same for the ratios of the only rank.
std::optional<std::string> density_failure(const std::string& method, const std::vector<double>& ratios,
                                           double tolerance);

}  // namespace gradcomp
