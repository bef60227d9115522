#pragma once
// Statistics of what lies above a threshold, for fits in several stages (SIDCo). Kernels ask and take the sums; the
// host only launches.
#include "gradcomp/kernels/lanes/lanes.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"

namespace gradcomp::kernels {

/// Of the elements of a segment that were looked at.
struct Tail {
  index_t seen = 0;    ///< elements looked at
  index_t count = 0;   ///< of these, magnitude above the threshold
  double excess = 0;   ///< sum of |a| - threshold over them
  double squares = 0;  ///< sum of (|a| - threshold)^2
};

/// Thresholds and sums of all segments; a small value type that kernels capture.
struct Tails {
  float* thresholds = nullptr;     ///< [segments] what the next TailSums::run() looks above; negative: nothing
  const Tail* partial = nullptr;   ///< [tiles]
  const index_t* begin = nullptr;  ///< [segments + 1] first tile

  KOKKOS_INLINE_FUNCTION bool asked(index_t s) const { return !(thresholds[s] < 0); }

  /// Of a segment that was looked at.
  KOKKOS_INLINE_FUNCTION Tail sum(const Warp& warp, index_t s) const {
    Lanes<double> excess, squares;
    Lanes<index_t> seen, count;
    warp.each([&](int l) {
      excess[l] = squares[l] = 0;
      seen[l] = count[l] = 0;
      for (index_t t = begin[s] + l; t < begin[s + 1]; t += warp_lanes) {
        seen[l] += partial[t].seen;
        count[l] += partial[t].count;
        excess[l] += partial[t].excess;
        squares[l] += partial[t].squares;
      }
    });
    return {warp.sum(seen), warp.sum(count), warp.sum(excess), warp.sum(squares)};
  }
};

/// Segments below 2^20 elements are read in full. Larger ones every s-th row of 32, s = tiles / 128 up to 32, which
/// leaves at least 2^19 elements spread over all tiles: the relative error of a mean over a tail of share q is
/// 1 / sqrt(2^19 q), 1.4 % at q = .01, while a stage costs a twentieth of a sweep instead of a whole one.
class TailSums {
 public:
  explicit TailSums(const Tiles& tiles);

  Tails tails() const { return {m_thresholds.data(), m_partial.data(), m_begin.data()}; }

  /// Sums over a above the thresholds of tails().
  void run(const Exec& exec, const Tiles& tiles, const float* a) const;

  index_t bytes() const;

 private:
  Vector<Tail> m_partial;      ///< [tiles]
  Vector<float> m_thresholds;  ///< [segments]
  Vector<index_t> m_begin;
};

}  // namespace gradcomp::kernels
