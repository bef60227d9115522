#pragma once
// SIDCo's threshold for one segment: fits in stages. Host arithmetic, in double.
#include <cmath>

#include "gradcomp/compressors/detail/sidco_fits.hpp"
#include "gradcomp/core/types.hpp"
#include "gradcomp/kernels/moments.hpp"
#include "gradcomp/kernels/tail_sums.hpp"

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
  /// First stage. 0 < k < moments.nonzeros, sum_abs finite and positive.
  SidcoStages(const SidcoRule& rule, index_t k, const kernels::Moments& moments, index_t elements, int stages);

  bool done() const { return m_done; }
  float threshold() const { return static_cast<float>(m_eta); }

  /// Next stage, from the elements above threshold().
  void advance(const kernels::Tail& tail);

 private:
  static constexpr index_t fewest_to_fit = 32;

  void step(double quantile);
  void correct(double survivors);

  SidcoRule m_rule;
  double m_k, m_elements, m_survivors;  ///< survivors: above m_eta_before
  int m_left;                           ///< stages to come
  double m_later_share = 1;             ///< of the paper: what each later stage keeps
  bool m_done;
  double m_eta = 0, m_eta_before = 0;
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
  ///
  /// Ours also integrates ln(kept / k) with a gain of 0.1 and asks the fit for k e^-bias: what a distribution that does
  /// not quite fit misses is nearly the same from step to step. On the gradients of a ResNet-20 this takes the mean of
  /// kept / k from 0.96 .. 1.10 to 1.00 .. 1.01, with feedback and without, for all three distributions
  /// (tests/unit/train/closed_loop_test.cpp).
  void record(double ratio, int interval, double tolerance, int most_stages, bool paper);

  /// What to ask a fit for where k entries of a segment's nonzeros are wanted, in [1, nonzeros).
  index_t aim(index_t k, index_t nonzeros) const;
};

}  // namespace gradcomp::compressors
