#include "gradcomp/compressors/detail/sparse/sampled.hpp"

#include <algorithm>
#include <cmath>

namespace gradcomp::compressors {
namespace {

index_t ceiling(double x) { return static_cast<index_t>(std::ceil(x)); }

}  // namespace

SamplePlan dropping_sample(index_t n, double density, index_t max_samples, bool odd) {
  SamplePlan plan;
  if (n == 0) return plan;
  const index_t m = std::min(max_samples, n);
  plan.stride = odd ? (n + m - 1) / m / 2 * 2 + 1 : n / m;
  plan.count = odd ? std::max<index_t>(1, n / plan.stride) : m;
  const auto dropped = static_cast<index_t>(std::floor(static_cast<double>(plan.count) * (1 - density)));
  plan.rank = plan.count - std::max<index_t>(0, dropped - 1);
  return plan;
}

SamplePlan dgc_sample(index_t n, double density, double share, index_t min_rank, bool fine) {
  SamplePlan plan;
  plan.count = n;
  const double size = static_cast<double>(n);
  const index_t fewest = ceiling(static_cast<double>(min_rank) / density);
  if (n > fewest) {
    const index_t wanted = std::max(ceiling(share * size), fewest);
    plan.stride = ceiling(size / static_cast<double>(wanted) / 32) * 32 + 1;
    while (n / plan.stride < wanted) plan.stride -= fine ? 2 : 8;
    plan.count = n / plan.stride;
  }
  plan.rank = std::min(plan.count, ceiling(static_cast<double>(plan.count) * density));
  return plan;
}

}  // namespace gradcomp::compressors
