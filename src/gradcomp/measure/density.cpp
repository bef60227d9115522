#include "gradcomp/measure/density.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "gradcomp/comm/over_ranks.hpp"
#include "gradcomp/measure/samples.hpp"

namespace gradcomp {

DensityStatistics::DensityStatistics(const std::vector<double>& ratios) {
  const Samples samples(ratios);
  count = samples.count();
  mean = samples.mean();
  p5 = samples.p5();
  p50 = samples.median();
  p95 = samples.p95();
  max = samples.maximum();
  double spread = 0, miss = 0;
  for (const double ratio : ratios) {
    spread += (ratio - mean) * (ratio - mean);
    miss += (ratio - 1) * (ratio - 1);
  }
  std = std::sqrt(spread / static_cast<double>(count));  // 0 / 0 = NaN without samples
  rms = std::sqrt(miss / static_cast<double>(count));
}

DensityMedian density_median(Transport& comm, const std::vector<double>& ratios) {
  constexpr double none = std::numeric_limits<double>::max();
  const bool has = !ratios.empty();
  const double own = has ? Samples(ratios).median() : none;
  const double lowest = min_over_ranks(comm, {own})[0];
  const auto most = max_over_ranks(comm, {has ? own : -none, static_cast<double>(ratios.size())});
  if (most[1] == 0) return {0, 0, 0};
  return {lowest, most[0], static_cast<index_t>(most[1])};
}

std::optional<std::string> density_failure(const std::string& method, const DensityMedian& median, double tolerance) {
  if (!(tolerance > 0) || median.samples == 0) return std::nullopt;
  const double low = 1 - tolerance, high = 1 + tolerance;
  if (median.lowest >= low && median.highest <= high) return std::nullopt;
  return fmt::format(
      "method '{}': the median of achieved / target density over {} tensor-steps is {:.4g}; allowed: {:.4g} to {:.4g} "
      "(--density-tolerance)",
      method, median.samples, median.lowest < low ? median.lowest : median.highest, low, high);
}

std::optional<std::string> density_failure(const std::string& method, const std::vector<double>& ratios,
                                           double tolerance) {
  const Samples samples(ratios);
  return density_failure(method, DensityMedian{samples.median(), samples.median(), samples.count()}, tolerance);
}

}  // namespace gradcomp
