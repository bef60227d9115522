#pragma once
// Finds a threshold above which about k entries lie, by counting. The search runs on the bit patterns of the threshold
// and tries eight candidates at a time, so that each read of the gradient makes the interval nine times shorter. It
// assumes no distribution, and it ends for any data.
#include "gradcomp/compressors/detail/sparse/search_thresholds.hpp"

namespace gradcomp::compressors {

/// What a search must reach.
struct CountGoal {
  index_t k = 0;          ///< wanted count; smaller than the number of nonzeros
  index_t min_count = 0;  ///< smallest allowed count
  index_t max_count = 0;  ///< the search ends at a count of min_count .. max_count
  index_t limit = 0;      ///< largest count that is accepted when no reads are left
  int reads = 0;
};

class CountSearch {
 public:
  CountSearch() = default;

  /// The interval goes from max(S - k M, 2^-10 S) / nonzeros to min(M, S / k), with S = sum |a| and M = max |a|. By
  /// Markov's inequality fewer than k entries lie above its upper end, and at least k above (S - k M) / nonzeros. The
  /// other lower bound is for heavy tails: if the k-th magnitude is below a thousandth of the mean, the exact search
  /// finds it. `guess` is a magnitude, or negative for none: the first read tries eight thresholds within a factor of
  /// 2^octaves of it.
  KOKKOS_INLINE_FUNCTION CountSearch(const CountGoal& goal, const kernels::Moments& moments, std::int32_t guess,
                                     double octaves)
      : m_goal(goal), m_guess(guess), m_reach(static_cast<std::int32_t>(octaves * 0x1p23)) {
    const double sum = moments.sum_abs, k = static_cast<double>(goal.k);
    const double largest = static_cast<double>(Kokkos::bit_cast<float>(moments.max_bits));
    m_low = bits(Kokkos::max(sum - k * largest, 0x1p-10 * sum) / static_cast<double>(moments.nonzeros));
    m_high = bits(Kokkos::min(largest, sum / k));
  }

  KOKKOS_INLINE_FUNCTION bool done() const {
    const bool found = m_best >= 0 && m_count <= m_goal.max_count;
    return found || m_goal.reads == 0 || m_high - m_low <= 1;
  }

  KOKKOS_INLINE_FUNCTION kernels::Probes probes() const {
    kernels::Probes probes = kernels::no_probes();
    if (done()) return probes;
    const bool guessing = m_guess > m_low && m_guess < m_high;
    const std::int64_t low = guessing ? m_guess - m_reach : m_low, high = guessing ? m_guess + m_reach : m_high;
    for (int p = 0; p < kernels::max_probes; ++p) {
      // around a guess, both ends are tried; in an interval, only thresholds between its ends
      const std::int64_t at = guessing ? low + (high - low) * p / (kernels::max_probes - 1)
                                       : low + (high - low) * (p + 1) / (kernels::max_probes + 1);
      probes[p] = static_cast<std::int32_t>(Kokkos::clamp<std::int64_t>(at, m_low, m_high));
    }
    return probes;
  }

  /// Takes the numbers of entries above the thresholds of probes().
  KOKKOS_INLINE_FUNCTION void advance(const kernels::Counts& counts) {
    const kernels::Probes looked_at = probes();
    for (int p = 0; p < kernels::max_probes; ++p) {
      const std::int32_t at = looked_at[p];
      const index_t count = counts[p];
      if (count < m_goal.min_count) {
        m_high = Kokkos::min(m_high, at);
      } else {
        if (count > m_goal.max_count) m_low = Kokkos::max(m_low, at);
        const bool better = m_best < 0 || distance(count) < distance(m_count);
        if (count > m_goal.limit || !better) continue;
        m_best = at;
        m_count = count;
      }
    }
    m_guess = -1;
    --m_goal.reads;
  }

  /// Whether advance() treats `count` and all larger counts alike.
  KOKKOS_INLINE_FUNCTION bool enough(index_t count) const { return count > m_goal.limit; }

  /// The threshold, a magnitude, whose count came nearest to k (by the ratio) among those that the goal allows. -1:
  /// none was found, because ties leave no threshold between the k largest and the others, or because no reads were
  /// left.
  KOKKOS_INLINE_FUNCTION std::int32_t threshold() const { return m_best; }

 private:
  KOKKOS_INLINE_FUNCTION static std::int32_t bits(double value) {
    return kernels::magnitude(static_cast<float>(value));
  }
  KOKKOS_INLINE_FUNCTION double distance(index_t count) const {
    return Kokkos::fabs(
        Kokkos::log(static_cast<double>(Kokkos::max<index_t>(count, 1)) / static_cast<double>(m_goal.k)));
  }

  CountGoal m_goal;
  std::int32_t m_low = 0, m_high = 0;  ///< the threshold is above low and not above high
  std::int32_t m_guess = -1, m_reach = 0;
  index_t m_count = 0;       ///< number of entries above m_best
  std::int32_t m_best = -1;  ///< best threshold so far
};

}  // namespace gradcomp::compressors
