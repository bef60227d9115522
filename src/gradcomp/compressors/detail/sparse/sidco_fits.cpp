#include "gradcomp/compressors/detail/sparse/sidco_fits.hpp"

#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>

#include "gradcomp/core/error.hpp"

namespace gradcomp::compressors {
namespace {

/// s = ln mean - mean ln; positive unless all values are equal.
double log_gap(const SampleMeans& means) { return std::log(means.value) - means.log; }

double closed_form_shape(double s) { return (3 - s + std::sqrt((s - 3) * (s - 3) + 24 * s)) / (12 * s); }

double gamma_quantile(const SampleMeans& means, double q) {
  const double s = log_gap(means);
  double shape = closed_form_shape(s);
  for (int i = 0; i < 2; ++i) {
    const double miss = std::log(shape) - boost::math::digamma(shape) - s;
    const double slope = shape * shape * (1 / shape - boost::math::trigamma(shape));
    shape = 1 / (1 / shape + miss / slope);
  }
  return means.value / shape * boost::math::gamma_q_inv(shape, q);
}

}  // namespace

Distribution distribution_from_name(const std::string& name) {
  if (name == "exponential") return Distribution::exponential;
  if (name == "gamma") return Distribution::gamma;
  require(name == "pareto", "distribution '{}' is unknown; allowed: exponential, gamma, pareto", name);
  return Distribution::pareto;
}

double tail_quantile(Distribution distribution, const SampleMeans& means, double q) {
  const double s = log_gap(means);
  if (distribution == Distribution::gamma && s > narrow && std::isfinite(s)) return gamma_quantile(means, q);
  return kernel_quantile(distribution, means, q);
}

double paper_gamma_quantile(const SampleMeans& means, double q) {
  const double shape = closed_form_shape(log_gap(means));
  return -means.value / shape * (std::log(q) + std::lgamma(shape));
}

}  // namespace gradcomp::compressors
