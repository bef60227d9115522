#pragma once
// SIDCo's threshold for one segment: fits in stages; in double.
#include <cmath>

#include "gradcomp/compressors/detail/sparse/sidco_fits.hpp"
#include "gradcomp/core/types.hpp"
#include "gradcomp/kernels/select/moments.hpp"
#include "gradcomp/kernels/select/tail_sums.hpp"

namespace gradcomp::compressors {

/// How the stages of a method are made.
struct SidcoRule {
  Distribution first = Distribution::exponential;  ///< of the first stage
  Distribution later = Distribution::exponential;  ///< of what lies above a stage's threshold
  bool paper = false;                              ///< the authors' formulas and presumed counts
  double delta1 = 0.25;                            ///< share that the first of several stages keeps
};

/// Abdelmoniem et al., MLSys 2021, algorithm 1: a distribution is fitted to |a|, later ones to the excess of what lies
/// above the threshold eta of the stage before, and eta moved to the quantile that leaves the stage's share.
///
/// Against the paper (rule.paper = false): zeros are no survivors (a share of zeros falsifies every fit); from the
/// second stage on a stage leaves survivors (k / survivors)^(1 / stages left), counted instead of presumed, so that
/// errors of the stages before are repaired; with several stages the survivors of the last one, or of one that left
/// fewer than k, are counted too and the threshold moved along the line of log counts, so that the bias of the last fit
/// goes as well. Sums are in double: a float mean of 2^26 values is off by a quarter.
class SidcoStages {
 public:
  SidcoStages() = default;  ///< done: no search is made

  /// Before the first stage. 0 < k < moments.nonzeros, sum_abs finite and positive.
  KOKKOS_INLINE_FUNCTION SidcoStages(const SidcoRule& rule, index_t k, const kernels::Moments& moments,
                                     index_t elements, int stages)
      : m_rule(rule),
        m_k(static_cast<double>(k)),
        m_elements(static_cast<double>(elements)),
        m_survivors(static_cast<double>(rule.paper ? elements : moments.nonzeros)),
        m_left(m_k >= rule.delta1 * m_survivors ? 1 : stages),  // a first stage that keeps delta1 would keep too few
        m_searched(true),
        m_done(m_left == 1) {
    if (m_left > 1) m_later_share = Kokkos::pow(m_k / m_elements / rule.delta1, 1.0 / (m_left - 1));
  }

  /// What the first stage is fitted to. Of the nonzeros; as the authors' code does it, zeros count, with the logarithm
  /// of an epsilon.
  KOKKOS_INLINE_FUNCTION SampleMeans first_means(const kernels::Moments& moments) const {
    const double nonzeros = static_cast<double>(moments.nonzeros), count = m_rule.paper ? m_elements : nonzeros;
    const double zero_logs = m_rule.paper ? (m_elements - nonzeros) * Kokkos::log(2.2e-16) : 0;
    return {moments.sum_abs / count, moments.sum_squares / count, (moments.sum_logs + zero_logs) / count};
  }
  /// The share that the first stage keeps.
  KOKKOS_INLINE_FUNCTION double first_share() const { return m_left > 1 ? m_rule.delta1 : m_k / m_survivors; }
  /// Makes the first stage; `quantile` of the distribution `first`, that share exceeding it.
  KOKKOS_INLINE_FUNCTION void start(double quantile) { step(Kokkos::max(0.0, quantile)); }

  /// The reads that `stages` stages take at most.
  static int reads(const SidcoRule& rule, int stages) { return stages > 1 && !rule.paper ? stages : stages - 1; }

  KOKKOS_INLINE_FUNCTION bool searched() const { return m_searched; }
  KOKKOS_INLINE_FUNCTION bool done() const { return m_done; }
  KOKKOS_INLINE_FUNCTION float threshold() const { return static_cast<float>(m_eta); }

  /// Next stage, from the elements above threshold().
  KOKKOS_INLINE_FUNCTION void advance(const kernels::Tail& tail) {
    const double seen = static_cast<double>(tail.seen > 0 ? tail.seen : 1), count = static_cast<double>(tail.count);
    const double survivors = count * m_elements / seen;
    const bool last = m_left == 0 || (!m_rule.paper && survivors < m_k);
    if (last || tail.count < fewest_to_fit || !(tail.excess > 0)) {
      if (last && !m_rule.paper) correct(survivors);
      m_done = true;
      return;
    }
    m_survivors = survivors;
    const double share = m_rule.paper ? m_later_share : Kokkos::pow(m_k / m_survivors, 1.0 / m_left);
    step(kernel_quantile(m_rule.later, {tail.excess / count, tail.squares / count, 0}, share));
    m_done = m_rule.paper && m_left == 0;
  }

 private:
  static constexpr index_t fewest_to_fit = 32;

  /// Raises the threshold.
  KOKKOS_INLINE_FUNCTION void step(double quantile) {
    m_eta_before = m_eta;
    m_eta += quantile;
    --m_left;
  }

  /// m_survivors lie above m_eta_before and `survivors` above m_eta: puts m_eta where the line through the logarithms
  /// of both counts meets k, at most twice as far.
  KOKKOS_INLINE_FUNCTION void correct(double survivors) {
    const double slope = Kokkos::log(m_survivors / Kokkos::max(survivors, 0.5));
    const double wanted = Kokkos::log(m_survivors / m_k);
    m_eta = m_eta_before + (m_eta - m_eta_before) * (wanted < 2 * slope ? wanted / slope : 2);
  }

  SidcoRule m_rule;
  double m_k = 0, m_elements = 0, m_survivors = 0;  ///< survivors: above m_eta_before
  double m_later_share = 1;                         ///< of the paper: what each later stage keeps
  double m_eta = 0, m_eta_before = 0;
  int m_left = 0;  ///< stages to come
  bool m_searched = false, m_done = true;
};

/// What a segment remembers between steps: the number of stages, looked at every `interval` calls, and the bias that is
/// left with them.
struct SidcoHistory {
  std::int32_t stages = 1;
  std::int32_t calls = 0;       ///< since the stages were last looked at
  double ratio_sum = 0;         ///< of kept / k over these calls
  std::int32_t wild_calls = 0;  ///< of these, less than half or more than twice k
  double bias = 0;              ///< running mean of ln(kept / k), which the next calls aim off by

  /// One stage more when the mean of kept / k left 1 +- tolerance, or when calls were wild.
  ///
  /// The paper (`paper`) goes one stage back when too many were kept. It needs that because each further stage raises
  /// what is kept; ours is corrected, every further one only makes that correction smaller, and going back to a stage
  /// that starves makes starving and bursting alternate (mean .65, deviation .6 of the target in a closed loop).
  void count(double ratio, int interval, double tolerance, int max_stages, bool paper);

  /// Integrates ln(kept / k) with a gain of 0.1, for aim() to ask the fit for k e^-bias: what a distribution that does
  /// not quite fit misses is nearly the same from step to step. On the gradients of a ResNet-20 this takes the mean of
  /// kept / k from 0.96 .. 1.10 to 1.00 .. 1.01, with feedback and without, for all three distributions
  /// (tests/unit/train/closed_loop_test.cpp).
  void integrate(double ratio);

  /// What to ask a fit for where k entries are wanted; to be clamped to [1, nonzeros).
  index_t aim(index_t k) const;
};

}  // namespace gradcomp::compressors
