#include "gradcomp/sampling/draw.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "gradcomp/core/error.hpp"
#include "gradcomp/data/counter_rng.hpp"

namespace gradcomp::sampling {
namespace {

/// First word of the random stream of draws, which differs from those of data/.
constexpr std::uint64_t draw_stream = 0x4D43;

bool usable(float loss) { return std::isfinite(loss); }

}  // namespace

double mean_of_finite(std::span<const float> losses) {
  double sum = 0;
  index_t finite = 0;
  for (const float loss : losses) {
    if (!usable(loss)) continue;
    sum += static_cast<double>(loss);
    ++finite;
  }
  return finite > 0 ? sum / static_cast<double>(finite) : std::numeric_limits<double>::quiet_NaN();
}

std::vector<double> probabilities(std::span<const float> losses, double base) {
  std::vector<double> p(losses.size(), 0.0);
  double sum = 0;
  index_t kept = 0;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (!usable(losses[i])) continue;
    p[i] = std::max(0.0, static_cast<double>(losses[i]) + base);
    sum += p[i];
    ++kept;
  }
  if (sum > 0) {
    for (double& x : p) x /= sum;
    return p;
  }
  const double equal = 1.0 / static_cast<double>(kept > 0 ? kept : std::ssize(losses));
  for (std::size_t i = 0; i < losses.size(); ++i) p[i] = kept == 0 || usable(losses[i]) ? equal : 0.0;
  return p;
}

std::vector<float> unbiased_weights(const std::vector<double>& p, std::span<const float> losses) {
  const auto kept = std::count_if(losses.begin(), losses.end(), usable);
  const double m = static_cast<double>(kept > 0 ? kept : std::ssize(losses));
  std::vector<float> weights(p.size());
  std::transform(p.begin(), p.end(), weights.begin(), [m](double x) { return x > 0 ? float(1.0 / (m * x)) : 0.0F; });
  return weights;
}

std::vector<index_t> draw(const std::vector<double>& p, index_t count, std::uint64_t seed, index_t step, int rank) {
  require(!p.empty(), "sampler: no sample to draw from, expected at least one");
  std::vector<double> up_to(p.size());
  std::partial_sum(p.begin(), p.end(), up_to.begin());
  data::CounterRng rng(seed ^ draw_stream << 48U, static_cast<std::uint64_t>(step), static_cast<std::uint64_t>(rank));
  std::vector<index_t> drawn(static_cast<std::size_t>(count));
  for (index_t& i : drawn) {
    const double u = static_cast<double>(rng.next() >> 11U) * 0x1p-53 * up_to.back();
    i = std::upper_bound(up_to.begin(), up_to.end(), u) - up_to.begin();  // p > 0 here: the first sum above u
  }
  return drawn;
}

}  // namespace gradcomp::sampling
