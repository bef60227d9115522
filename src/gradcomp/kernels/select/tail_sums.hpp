#pragma once
// Statistics of the elements above a threshold, for fits in several stages (SIDCo). Kernels ask and read the sums; the
// host only launches.
#include "gradcomp/kernels/lanes/lanes.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"

namespace gradcomp::kernels {

/// Statistics of the elements of a segment that were read.
struct Tail {
  index_t seen = 0;    ///< elements that were read
  index_t count = 0;   ///< elements among them with a magnitude above the threshold
  double excess = 0;   ///< sum of |a| - threshold over those above the threshold
  double squares = 0;  ///< sum of (|a| - threshold)^2 over those above the threshold
};

/// Thresholds and sums of all segments; a small value type that kernels capture.
struct Tails {
  float* thresholds = nullptr;     ///< [segments] for the next TailSums::run(); negative: skip the segment
  const Tail* partial = nullptr;   ///< [tiles]
  const index_t* begin = nullptr;  ///< [segments + 1] first tile

  KOKKOS_INLINE_FUNCTION bool asked(index_t s) const { return !(thresholds[s] < 0); }

  /// The statistics of a segment that was not skipped.
  KOKKOS_INLINE_FUNCTION Tail sum(const Warp& warp, index_t s) const {
    Lanes<double> excess, squares;
    Lanes<index_t> seen, count;
    warp.each([&](int l) {
      excess[l] = squares[l] = 0;
      seen[l] = count[l] = 0;
      const auto load = [&](index_t t) { return partial[t]; };
      each_of_lane(l, begin[s], begin[s + 1], load, [&](const Tail& part) {
        seen[l] += part.seen;
        count[l] += part.count;
        excess[l] += part.excess;
        squares[l] += part.squares;
      });
    });
    return {warp.sum(seen), warp.sum(count), warp.sum(excess), warp.sum(squares)};
  }
};

/// Segments below 2^20 elements are read completely. Of larger segments, every s-th row of 32 elements is read, with
/// s = tiles / 128, at most 32. At least 2^19 elements, spread over all tiles, are read then. So the relative error of
/// a mean over a tail with the share q is 1 / sqrt(2^19 q), that is 1.4 % for q = 0.01, and a stage costs only about a
/// twentieth of a sweep.
class TailSums {
 public:
  explicit TailSums(const Tiles& tiles);

  Tails tails() const { return {m_thresholds.data(), m_partial.data(), m_begin.data()}; }

  /// Forms the sums over the elements of a above the thresholds of tails().
  void run(const Exec& exec, const Tiles& tiles, const float* a) const;

  index_t bytes() const;

 private:
  Vector<Tail> m_partial;      ///< [tiles]
  Vector<float> m_thresholds;  ///< [segments]
  Vector<index_t> m_begin;
};

}  // namespace gradcomp::kernels
