#pragma once
// The two searches of RedSync as its authors wrote them, in double. One read answers several of their counts.
#include <algorithm>
#include <cmath>

#include "gradcomp/compressors/detail/sparse/search_thresholds.hpp"

namespace gradcomp::compressors {

/// eta = mu + t (M - mu) of one segment.
struct RedsyncScale {
  RedsyncScale() = default;
  KOKKOS_INLINE_FUNCTION RedsyncScale(const kernels::Moments& moments, index_t elements)
      : mean(moments.sum_abs / static_cast<double>(elements)),
        spread(static_cast<double>(Kokkos::bit_cast<float>(moments.max_bits)) - mean) {}

  /// The threshold eta as a magnitude. If eta is not positive it is 0, so that all nonzeros lie above it.
  KOKKOS_INLINE_FUNCTION std::int32_t at(double t) const {
    const double eta = mean + t * spread;
    return eta > 0 ? kernels::magnitude(static_cast<float>(eta)) : 0;
  }

  double mean = 0, spread = 0;
};

/// The search of one segment. A default search is done from the start.
///
/// trimmed: the authors' "trimmed top-k", t = 1 - eps, 1 - 2 eps, ... until at least k entries lie above. It also ends
/// at eta = 0, at t < -1, and if all magnitudes are equal. binary: "threshold binary search". One read decides three of
/// its probes, because three probes can reach only seven thresholds.
class RedsyncSearch {
 public:
  enum class Kind : std::int32_t { none, trimmed, binary };

  RedsyncSearch() = default;
  KOKKOS_INLINE_FUNCTION RedsyncSearch(Kind kind, const RedsyncScale& scale, index_t k, double eps)
      : m_kind(kind), m_scale(scale), m_k(k), m_eps(eps), m_done(kind == Kind::trimmed && !(scale.spread > 0)) {}

  /// The largest number of reads that a search of either kind needs.
  static int max_reads(double eps);

  KOKKOS_INLINE_FUNCTION bool done() const { return m_done; }
  /// trimmed: a magnitude above which at least k entries lie; -1: none was found.
  KOKKOS_INLINE_FUNCTION std::int32_t bound() const { return m_kind == Kind::trimmed ? m_found : -1; }
  /// binary: the threshold of the last probe; -1: this is another search, or it has made no probe.
  KOKKOS_INLINE_FUNCTION std::int32_t threshold() const { return m_kind == Kind::binary ? m_found : -1; }

  KOKKOS_INLINE_FUNCTION kernels::Probes probes() const {
    kernels::Probes probes = kernels::no_probes();
    if (m_done) return probes;
    if (m_kind == Kind::trimmed) {
      for (int p = 0; p < kernels::max_probes; ++p) probes[p] = m_scale.at(1 - (m_tried + p + 1) * m_eps);
      return probes;
    }
    // A heap: probe p is followed by 2 p + 1 (lower) or 2 p + 2 (upper).
    double low[reachable] = {m_low}, high[reachable] = {m_high};
    for (int p = 0; p < reachable; ++p) {
      const double middle = (low[p] + high[p]) / 2;
      probes[p] = m_scale.at(middle);
      if (p >= 3) continue;
      low[2 * p + 1] = low[p], high[2 * p + 1] = middle;
      low[2 * p + 2] = middle, high[2 * p + 2] = high[p];
    }
    return probes;
  }

  KOKKOS_INLINE_FUNCTION void advance(const kernels::Counts& counts) {
    const kernels::Probes looked_at = probes();
    m_kind == Kind::trimmed ? advance_trimmed(counts, looked_at) : advance_binary(counts, looked_at);
  }

  KOKKOS_INLINE_FUNCTION bool enough(index_t count) const { return count >= (m_kind == Kind::trimmed ? m_k : 2 * m_k); }

 private:
  static constexpr int reachable = 7;

  KOKKOS_INLINE_FUNCTION void advance_trimmed(const kernels::Counts& counts, const kernels::Probes& looked_at) {
    for (int p = 0; p < kernels::max_probes && !m_done; ++p) {
      ++m_tried;
      if (counts[p] >= m_k) m_found = looked_at[p];
      m_done = m_found >= 0 || looked_at[p] == 0 || m_tried * m_eps > 2;
    }
  }

  KOKKOS_INLINE_FUNCTION void advance_binary(const kernels::Counts& counts, const kernels::Probes& looked_at) {
    for (int p = 0; p < reachable && !m_done;) {
      const index_t count = counts[p];
      const double middle = (m_low + m_high) / 2;
      m_found = looked_at[p];
      const bool hit = m_k < count && count < 2 * m_k, few = 2 * count < m_k;
      if (!hit) (few ? m_high : m_low) = middle;
      m_done = hit || !(m_high - m_low > m_eps);
      p = few ? 2 * p + 1 : 2 * p + 2;
    }
  }

  Kind m_kind = Kind::none;
  RedsyncScale m_scale;
  index_t m_k = 0;
  double m_eps = 0, m_low = 0, m_high = 1;
  int m_tried = 0;
  bool m_done = true;
  std::int32_t m_found = -1;
};

inline int RedsyncSearch::max_reads(double eps) {
  const int trimmed = static_cast<int>(std::floor(2 / eps)) + 2;  // tried * eps > 2 ends it; 2 more for rounding
  const int binary = static_cast<int>(std::ceil(std::log2(1 / eps))) + 1;
  return std::max((trimmed + kernels::max_probes - 1) / kernels::max_probes, (binary + 2) / 3);
}

}  // namespace gradcomp::compressors
