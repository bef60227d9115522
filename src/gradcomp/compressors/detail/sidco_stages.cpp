#include "gradcomp/compressors/detail/sidco_stages.hpp"

#include <algorithm>

namespace gradcomp::compressors {
namespace {

/// Of the nonzeros; as the authors' code does it, zeros count, with the logarithm of an epsilon.
SampleMeans means_of(const kernels::Moments& moments, double elements, bool paper) {
  const double nonzeros = static_cast<double>(moments.nonzeros), count = paper ? elements : nonzeros;
  const double zero_logs = paper ? (elements - nonzeros) * std::log(2.2e-16) : 0;
  return {moments.sum_abs / count, moments.sum_squares / count, (moments.sum_logs + zero_logs) / count};
}

}  // namespace

SidcoStages::SidcoStages(const SidcoRule& rule, index_t k, const kernels::Moments& moments, index_t elements,
                         int stages)
    : m_rule(rule),
      m_k(static_cast<double>(k)),
      m_elements(static_cast<double>(elements)),
      m_survivors(static_cast<double>(rule.paper ? elements : moments.nonzeros)),
      m_left(m_k >= rule.delta1 * m_survivors ? 1 : stages),  // a first stage that keeps delta1 would keep too few
      m_done(m_left == 1) {
  const double share = m_left > 1 ? rule.delta1 : m_k / m_survivors;
  if (m_left > 1) m_later_share = std::pow(m_k / m_elements / rule.delta1, 1.0 / (m_left - 1));
  const SampleMeans means = means_of(moments, m_elements, rule.paper);
  const bool approximate = rule.paper && rule.first == Distribution::gamma;
  step(std::max(0.0, approximate ? paper_gamma_quantile(means, share) : tail_quantile(rule.first, means, share)));
}

void SidcoStages::advance(const kernels::Tail& tail) {
  const double seen = static_cast<double>(tail.seen > 0 ? tail.seen : 1), count = static_cast<double>(tail.count);
  const double survivors = count * m_elements / seen;
  const bool last = m_left == 0 || (!m_rule.paper && survivors < m_k);
  if (last || tail.count < fewest_to_fit || !(tail.excess > 0)) {
    if (last && !m_rule.paper) correct(survivors);
    m_done = true;
    return;
  }
  m_survivors = survivors;
  const double share = m_rule.paper ? m_later_share : std::pow(m_k / m_survivors, 1.0 / m_left);
  step(tail_quantile(m_rule.later, {tail.excess / count, tail.squares / count, 0}, share));
  m_done = m_rule.paper && m_left == 0;
}

/// Raises the threshold.
void SidcoStages::step(double quantile) {
  m_eta_before = m_eta;
  m_eta += quantile;
  --m_left;
}

/// m_survivors lie above m_eta_before and `survivors` above m_eta: puts m_eta where the line through the logarithms of
/// both counts meets k, at most twice as far.
void SidcoStages::correct(double survivors) {
  const double slope = std::log(m_survivors / std::max(survivors, 0.5)), wanted = std::log(m_survivors / m_k);
  m_eta = m_eta_before + (m_eta - m_eta_before) * (wanted < 2 * slope ? wanted / slope : 2);
}

void SidcoHistory::record(double ratio, int interval, double tolerance, int most_stages, bool paper) {
  ratio_sum += ratio;
  if (!paper) bias = std::clamp(bias + 0.1 * std::clamp(std::log(std::max(ratio, 1e-3)), -0.5, 0.5), -0.7, 0.7);
  wild_calls += ratio < 0.5 || ratio > 2 ? 1 : 0;
  if (++calls < interval) return;
  const double mean = ratio_sum / calls;
  if (paper) {
    const int change = mean > 1 + tolerance ? -1 : mean < 1 - tolerance ? 1 : 0;
    stages = std::clamp(stages + change, 1, most_stages);
  } else if (stages < most_stages && (std::fabs(mean - 1) > tolerance || wild_calls > 0)) {
    ++stages;
  }
  calls = wild_calls = 0;
  ratio_sum = 0;
}

index_t SidcoHistory::aim(index_t k, index_t nonzeros) const {
  return std::clamp<index_t>(std::llround(static_cast<double>(k) * std::exp(-bias)), 1, nonzeros - 1);
}

}  // namespace gradcomp::compressors
