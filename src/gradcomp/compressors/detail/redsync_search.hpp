#pragma once
// The two searches of RedSync as its authors wrote them, several counts a read. Host arithmetic, in double.
#include "gradcomp/kernels/count_above.hpp"
#include "gradcomp/kernels/moments.hpp"

namespace gradcomp::compressors {

/// eta = mu + t (M - mu) of one segment.
struct RedsyncScale {
  RedsyncScale() = default;
  RedsyncScale(const kernels::Moments& moments, index_t elements)
      : mean(moments.sum_abs / static_cast<double>(elements)),
        spread(static_cast<double>(Kokkos::bit_cast<float>(moments.max_bits)) - mean) {}

  /// As a magnitude; 0 for an eta that is not positive, so that all nonzeros lie above it.
  std::int32_t at(double t) const {
    const double eta = mean + t * spread;
    return eta > 0 ? kernels::magnitude(static_cast<float>(eta)) : 0;
  }

  double mean = 0, spread = 0;
};

/// "Trimmed top-k": t = 1 - eps, 1 - 2 eps, ... until at least k lie above. Ends at eta = 0 and t < -1 too, and where
/// nothing varies.
class TrimmedSearch {
 public:
  TrimmedSearch() = default;
  TrimmedSearch(const RedsyncScale& scale, index_t k, double eps)
      : m_scale(scale), m_k(k), m_eps(eps), m_done(!(scale.spread > 0)) {}

  bool done() const { return m_done; }
  /// k entries lie above it; -1: none was found.
  std::int32_t bound() const { return m_bound; }
  kernels::Probes probes() const;
  void advance(const kernels::Counts& counts);
  bool enough(index_t count) const { return count >= m_k; }

 private:
  RedsyncScale m_scale;
  index_t m_k = 0;
  double m_eps = 0;
  int m_tried = 0;
  bool m_done = true;
  std::int32_t m_bound = -1;
};

/// "Threshold binary search". Three of its probes are decided by one read: seven thresholds are reachable.
class BinarySearch {
 public:
  BinarySearch() = default;
  BinarySearch(const RedsyncScale& scale, index_t k, double eps) : m_scale(scale), m_k(k), m_eps(eps), m_done(false) {}

  bool done() const { return m_done; }
  /// Of the last probe; -1 before the first.
  std::int32_t threshold() const { return m_threshold; }
  kernels::Probes probes() const;
  void advance(const kernels::Counts& counts);
  bool enough(index_t count) const { return count >= 2 * m_k; }

 private:
  RedsyncScale m_scale;
  index_t m_k = 0;
  double m_eps = 0, m_low = 0, m_high = 1;
  bool m_done = true;
  std::int32_t m_threshold = -1;
};

}  // namespace gradcomp::compressors
