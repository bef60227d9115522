#pragma once
// The sparsity-inducing distributions of SIDCo, which are fitted by moments; in double.
#include <Kokkos_Core.hpp>
#include <string>

namespace gradcomp::compressors {

/// Means over the fitted values y, which are positive.
struct SampleMeans {
  double value = 0;   ///< y
  double square = 0;  ///< y^2
  double log = 0;     ///< ln y
};

enum class Distribution { exponential, gamma, pareto };

/// "exponential", "gamma", "pareto".
Distribution distribution_from_name(const std::string& name);

/// If variance / mean square, or the gap of the logarithms, is at most this, the values count as constant: the double
/// sums of a distribution with a shape beyond 1e4 are rounding noise.
inline constexpr double narrow = 1e-5;

/// tail_quantile() for the distributions that kernels can fit: all but gamma, which only the host can invert.
KOKKOS_INLINE_FUNCTION double kernel_quantile(Distribution distribution, const SampleMeans& means, double q) {
  const double variance = means.square - means.value * means.value;
  if (distribution != Distribution::pareto || !(variance > narrow * means.square) || !Kokkos::isfinite(variance))
    return means.value * Kokkos::log(1 / q);
  const double spread = means.value * means.value / variance, length = -Kokkos::log(q);
  const double xi = 0.5 * (1 - spread), beta = 0.5 * means.value * (1 + spread);
  return Kokkos::fabs(xi * length) < 1e-8 ? beta * length : beta * Kokkos::expm1(xi * length) / xi;
}

/// The value that a share q of the fitted distribution exceeds, 0 < q < 1 (Abdelmoniem et al., MLSys 2021, section
/// 2.3).
///   exponential  beta = mean (maximum likelihood); beta ln(1 / q)
///   gamma        the shape is the closed form of Ye & Chen, followed by two Newton steps to the maximum likelihood
///                (the closed form alone is 1 % off); the quantile is exact. Exponential if the values are constant.
///   pareto       generalised, from two moments: xi = (1 - mean^2 / variance) / 2,
///                beta = mean (1 + mean^2 / variance) / 2; beta (q^-xi - 1) / xi. Exponential if squares overflowed or
///                underflowed, or if the values are constant.
double tail_quantile(Distribution distribution, const SampleMeans& means, double q);

/// The paper's formula for gamma: the closed form of the shape alpha alone, and the approximation -beta (ln q + ln
/// Gamma(alpha)), which drops x^(alpha - 1). For alpha = .5 and q = .001 only .37 of the target lie above it, and it is
/// negative if Gamma(alpha) > 1 / q.
double paper_gamma_quantile(const SampleMeans& means, double q);

}  // namespace gradcomp::compressors
