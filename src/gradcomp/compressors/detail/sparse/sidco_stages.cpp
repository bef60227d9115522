#include "gradcomp/compressors/detail/sparse/sidco_stages.hpp"

#include <algorithm>
#include <cmath>

namespace gradcomp::compressors {

void SidcoHistory::count(double ratio, int interval, double tolerance, int max_stages, bool paper) {
  ratio_sum += ratio;
  wild_calls += ratio < 0.5 || ratio > 2 ? 1 : 0;
  if (++calls < interval) return;
  const double mean = ratio_sum / calls;
  if (paper) {
    const int change = mean > 1 + tolerance ? -1 : mean < 1 - tolerance ? 1 : 0;
    stages = std::clamp(stages + change, 1, max_stages);
  } else if (stages < max_stages && (std::fabs(mean - 1) > tolerance || wild_calls > 0)) {
    ++stages;
  }
  calls = wild_calls = 0;
  ratio_sum = 0;
}

void SidcoHistory::integrate(double ratio) {
  bias = std::clamp(bias + 0.1 * std::clamp(std::log(std::max(ratio, 1e-3)), -0.5, 0.5), -0.7, 0.7);
}

index_t SidcoHistory::aim(index_t k) const { return std::llround(static_cast<double>(k) * std::exp(-bias)); }

}  // namespace gradcomp::compressors
