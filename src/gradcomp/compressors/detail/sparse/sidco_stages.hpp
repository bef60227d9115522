#pragma once
// SIDCo's threshold for one segment, which is fitted in stages; in double.
#include <cmath>

#include "gradcomp/compressors/detail/sparse/sidco_fits.hpp"
#include "gradcomp/core/types.hpp"
#include "gradcomp/kernels/select/moments.hpp"
#include "gradcomp/kernels/select/tail_sums.hpp"

namespace gradcomp::compressors {

/// The options of the stages.
struct SidcoRule {
  Distribution first = Distribution::exponential;  ///< distribution of the first stage
  Distribution later = Distribution::exponential;  ///< distribution of what lies above the threshold of a stage
  bool paper = false;                              ///< uses the authors' formulas and presumed counts
  double delta1 = 0.25;                            ///< share of entries that the first of several stages keeps
};

/// Abdelmoniem et al., MLSys 2021, algorithm 1. The first stage fits a distribution to |a|. Each later stage fits one
/// to the excess of the survivors, the elements above the threshold eta of the stage before. Then it moves eta to the
/// quantile that leaves the share of this stage.
///
/// With rule.paper = false there are three differences. Zeros are no survivors, since a share of zeros falsifies every
/// fit. From the second stage on, a stage leaves the share (k / survivors)^(1 / stages left) of survivors that were
/// counted, whereas the paper presumes their number; this repairs the errors of the stages before. If there are several
/// stages, the survivors of the last one, or of one that left fewer than k, are counted too, and the threshold is moved
/// along the line of the logarithms of counts; this removes the bias of the last fit. Sums are double, because a float
/// mean of 2^26 values is wrong by a quarter.
class SidcoStages {
 public:
  SidcoStages() = default;  ///< done: there is no search

  /// The state before the first stage. 0 < k < moments.nonzeros; sum_abs is finite and positive.
  KOKKOS_INLINE_FUNCTION SidcoStages(const SidcoRule& rule, index_t k, const kernels::Moments& moments,
                                     index_t elements, int stages)
      : m_rule(rule),
        m_k(static_cast<double>(k)),
        m_elements(static_cast<double>(elements)),
        m_survivors(static_cast<double>(rule.paper ? elements : moments.nonzeros)),
        m_left(m_k >= rule.delta1 * m_survivors ? 1 : stages),  // if k needs more than delta1, one stage
        m_searched(true),
        m_done(m_left == 1) {
    if (m_left > 1) m_later_share = Kokkos::pow(m_k / m_elements / rule.delta1, 1.0 / (m_left - 1));
  }

  /// The means to which the first stage is fitted: those of the nonzeros. In the authors' code zeros count too, with
  /// the logarithm of an epsilon.
  KOKKOS_INLINE_FUNCTION SampleMeans first_means(const kernels::Moments& moments) const {
    const double nonzeros = static_cast<double>(moments.nonzeros), count = m_rule.paper ? m_elements : nonzeros;
    const double zero_logs = m_rule.paper ? (m_elements - nonzeros) * Kokkos::log(2.2e-16) : 0;
    return {moments.sum_abs / count, moments.sum_squares / count, (moments.sum_logs + zero_logs) / count};
  }
  /// The share that the first stage keeps.
  KOKKOS_INLINE_FUNCTION double first_share() const { return m_left > 1 ? m_rule.delta1 : m_k / m_survivors; }
  /// Makes the first stage. `quantile`: the value that the share first_share() of the distribution `first` exceeds.
  KOKKOS_INLINE_FUNCTION void start(double quantile) { step(Kokkos::max(0.0, quantile)); }

  /// Largest number of reads for `stages` stages.
  static int reads(const SidcoRule& rule, int stages) { return stages > 1 && !rule.paper ? stages : stages - 1; }

  KOKKOS_INLINE_FUNCTION bool searched() const { return m_searched; }
  KOKKOS_INLINE_FUNCTION bool done() const { return m_done; }
  KOKKOS_INLINE_FUNCTION float threshold() const { return static_cast<float>(m_eta); }

  /// Makes the next stage, from sums over the elements above threshold().
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

  /// m_survivors elements lie above m_eta_before, and `survivors` above m_eta. Puts m_eta where the line through the
  /// logarithms of both counts meets k, but at most twice as far from m_eta_before.
  KOKKOS_INLINE_FUNCTION void correct(double survivors) {
    const double slope = Kokkos::log(m_survivors / Kokkos::max(survivors, 0.5));
    const double wanted = Kokkos::log(m_survivors / m_k);
    m_eta = m_eta_before + (m_eta - m_eta_before) * (wanted < 2 * slope ? wanted / slope : 2);
  }

  SidcoRule m_rule;
  double m_k = 0, m_elements = 0, m_survivors = 0;  ///< survivors: number of elements above m_eta_before
  double m_later_share = 1;                         ///< for rule.paper: share that each later stage keeps
  double m_eta = 0, m_eta_before = 0;
  int m_left = 0;  ///< stages left
  bool m_searched = false, m_done = true;
};

/// What a segment remembers between steps: the number of stages, which is checked every `interval` calls, and the bias
/// that remains with these stages.
struct SidcoHistory {
  std::int32_t stages = 1;
  std::int32_t calls = 0;       ///< since the number of stages was last checked
  double ratio_sum = 0;         ///< sum of kept / k over these calls
  std::int32_t wild_calls = 0;  ///< number of these calls that kept less than half of k or more than 2 k
  double bias = 0;              ///< running mean of ln(kept / k), by which the next calls correct k

  /// Adds one stage if the mean of kept / k has left 1 +- tolerance, or if there were wild calls.
  ///
  /// With `paper`, it takes one stage away if too many entries were kept. The paper needs that because there each
  /// further stage raises what is kept. Our stages are corrected, and each further one only makes the correction
  /// smaller. Going back to a number of stages that starves would make starving and bursting alternate (in a closed
  /// loop: mean .65 and deviation .6 of kept / k).
  void count(double ratio, int interval, double tolerance, int max_stages, bool paper);

  /// Integrates ln(kept / k) with a gain of 0.1, so that aim() asks the fit for k e^-bias. This works because a
  /// distribution that does not quite fit misses by nearly the same factor in each step. On the gradients of a
  /// ResNet-20 it moves the mean of kept / k from 0.96 .. 1.10 to 1.00 .. 1.01, with and without feedback, for all
  /// three distributions (tests/unit/evaluate/closed_loop_test.cpp).
  void integrate(double ratio);

  /// The count to ask of a fit if k entries are wanted. The caller clamps it to [1, nonzeros).
  index_t aim(index_t k) const;

  /// Whether a search can use it: a checkpoint may hold anything. No ratio halves 2^50 elements more than 50 times.
  bool is_valid() const {
    return stages >= 1 && stages <= 50 && calls >= 0 && wild_calls >= 0 && wild_calls <= calls &&
           std::isfinite(ratio_sum) && std::abs(bias) <= 0.7;
  }
};

}  // namespace gradcomp::compressors
