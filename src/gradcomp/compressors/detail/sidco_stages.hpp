#pragma once
// SIDCo's threshold for one segment: exponential fits in stages. Host arithmetic, in double.
#include <cmath>

#include "gradcomp/core/types.hpp"
#include "gradcomp/kernels/tail_sums.hpp"

namespace gradcomp::compressors {

/// Abdelmoniem et al., MLSys 2021, algorithm 1 with the double exponential distribution (maximum likelihood): above its
/// threshold eta an exponential tail has mean excess mu, and eta + mu ln(c / c') leaves c' of its c survivors.
///
/// Against the paper: zeros are no survivors (a share of zeros falsifies every fit); from the second stage on a stage
/// leaves survivors (k / survivors)^(1 / stages left), counted instead of presumed, so that errors of the stages before
/// are repaired; with several stages the survivors of the last one, or of one that left fewer than k, are counted too
/// and the threshold moved along the line of log counts, so that the bias of the last fit goes as well. A single stage
/// is the paper's. Sums are in double: a float mean of 2^26 values is off by a quarter.
class SidcoStages {
 public:
  /// First stage, from all nonzeros. 0 < k < nonzeros, sum_abs finite and positive.
  SidcoStages(index_t k, index_t nonzeros, double sum_abs, index_t elements, int stages, double delta1)
      : m_k(static_cast<double>(k)),
        m_elements(static_cast<double>(elements)),
        m_survivors(static_cast<double>(nonzeros)),
        m_left(m_k >= delta1 * m_survivors ? 1 : stages),  // a first stage that keeps delta1 would keep too few
        m_done(m_left == 1) {
    step(sum_abs / m_survivors, m_left > 1 ? delta1 : m_k / m_survivors);
  }

  bool done() const { return m_done; }
  float threshold() const { return static_cast<float>(m_eta); }

  /// Next stage, from the elements above threshold().
  void advance(const kernels::Tail& tail) {
    const double survivors =
        static_cast<double>(tail.count) * m_elements / static_cast<double>(tail.seen > 0 ? tail.seen : 1);
    const bool last = m_left == 0 || survivors < m_k;
    if (last || tail.count < fewest_to_fit || !(tail.excess > 0)) {
      if (last) correct(survivors);
      m_done = true;
      return;
    }
    m_survivors = survivors;
    step(tail.excess / static_cast<double>(tail.count), std::pow(m_k / m_survivors, 1.0 / m_left));
  }

 private:
  static constexpr index_t fewest_to_fit = 32;

  /// Raises the threshold so that a share q of the survivors should stay.
  void step(double mean_excess, double q) {
    m_eta_before = m_eta;
    m_eta += mean_excess * std::log(1 / q);
    --m_left;
  }

  /// m_survivors lie above m_eta_before and `survivors` above m_eta: puts m_eta where the line through the logarithms
  /// of both counts meets k, at most twice as far.
  void correct(double survivors) {
    const double slope = std::log(m_survivors / (survivors > 0.5 ? survivors : 0.5));
    const double wanted = std::log(m_survivors / m_k);
    m_eta = m_eta_before + (m_eta - m_eta_before) * (wanted < 2 * slope ? wanted / slope : 2);
  }

  double m_k, m_elements, m_survivors;  ///< survivors: above m_eta_before
  int m_left;                           ///< stages to come
  bool m_done;
  double m_eta = 0, m_eta_before = 0;
};

/// What a segment remembers between steps.
struct SidcoHistory {
  std::int32_t stages = 1;
  std::int32_t calls = 0;       ///< since the stages were last looked at
  double ratio_sum = 0;         ///< of kept / k over these calls
  std::int32_t wild_calls = 0;  ///< of these, less than half or more than twice k

  /// Every `interval` calls: one stage more when the mean of kept / k left 1 +- tolerance, or when calls were wild.
  ///
  /// The paper goes one stage back when too many were kept. It needs that because each further stage raises what is
  /// kept; here the last stage is corrected, every further one only makes that correction smaller, and going back to a
  /// stage that starves makes starving and bursting alternate (mean .65, deviation .6 of the target in a closed loop).
  void record(double ratio, int interval, double tolerance, int most_stages) {
    ratio_sum += ratio;
    wild_calls += ratio < 0.5 || ratio > 2 ? 1 : 0;
    if (++calls < interval) return;
    const double mean = ratio_sum / calls;
    const bool missed = mean > 1 + tolerance || mean < 1 - tolerance || wild_calls > 0;
    if (missed && stages < most_stages) ++stages;
    calls = wild_calls = 0;
    ratio_sum = 0;
  }
};

}  // namespace gradcomp::compressors
