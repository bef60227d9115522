#pragma once
// Statistics of the elements above a threshold, for fits in several stages (SIDCo). Kernels ask and read the sums; the
// host only launches.
#include "gradcomp/kernels/lanes/source_rows.hpp"
#include "gradcomp/kernels/lanes/tile_groups.hpp"

namespace gradcomp::kernels {

/// Statistics of the elements of a segment that were read.
struct Tail {
  index_t seen = 0;    ///< elements that were read
  index_t count = 0;   ///< elements among them with a magnitude above the threshold
  double excess = 0;   ///< sum of |a| - threshold over those above the threshold
  double squares = 0;  ///< sum of (|a| - threshold)^2 over those above the threshold

  KOKKOS_FORCEINLINE_FUNCTION friend Tail operator+(const Tail& x, const Tail& y) {
    return {x.seen + y.seen, x.count + y.count, x.excess + y.excess, x.squares + y.squares};
  }
};

/// Thresholds and sums of all segments; a small value type that kernels capture.
struct Tails {
  float* thresholds = nullptr;     ///< [segments] for the next TailSums::run(); negative: skip the segment
  const Tail* partial = nullptr;   ///< [tiles]
  const index_t* begin = nullptr;  ///< [segments + 1] first tile

  KOKKOS_INLINE_FUNCTION bool asked(index_t s) const { return !(thresholds[s] < 0); }

  /// The statistics of a segment that was not skipped.
  KOKKOS_INLINE_FUNCTION Tail sum(const Block& block, index_t s) const {
    return sum_over<Tail>(block, begin[s], begin[s + 1], [&](index_t t) { return partial[t]; });
  }
};

namespace detail {
/// Every how many rows of a tile one row is read.
KOKKOS_INLINE_FUNCTION index_t row_stride(index_t tiles) { return Kokkos::clamp<index_t>(tiles / 128, 1, 32); }

/// Reads one tile.
struct TailOfTile {
  const Tile* tile;
  const index_t* begin;
  const float* thresholds;  ///< [segments]
  Tail* partial;            ///< [tiles]
  const float* a;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Warp& warp, index_t t) const {
    const Tile here = tile[t];
    const float limit = thresholds[here.segment];
    if (limit < 0) return;
    const index_t stride = row_stride(begin[here.segment + 1] - begin[here.segment]);
    const auto hash = static_cast<std::uint32_t>(t) * 0x9e3779b1u >> 16;
    const auto step = static_cast<std::int32_t>(stride * warp_lanes);
    Lanes<float> excess, squares;
    Lanes<std::int32_t> count;
    warp.each([&](int l) {
      excess[l] = squares[l] = 0;
      count[l] = 0;
    });
    std::int32_t seen = 0;
    for (auto row = static_cast<std::int32_t>(hash % stride) * warp_lanes; row < here.count; row += step) {
      const int active = here.count - row;
      Lanes<float> x;
      load_row(warp, a + here.first + row, active, x);  // lanes behind the end hold 0, which exceeds no threshold
      warp.each([&](int l) {
        const float over = Kokkos::abs(x[l]) - limit;
        const float above = over > 0 ? over : 0.0f;
        excess[l] += above;
        squares[l] += above * above;
        count[l] += over > 0 ? 1 : 0;
      });
      seen += active < warp_lanes ? active : warp_lanes;
    }
    const Tail sum{seen, warp.sum(count), static_cast<double>(warp.sum(excess)),
                   static_cast<double>(warp.sum(squares))};
    warp.once([&] { partial[t] = sum; });
  }
};
}  // namespace detail

/// Segments below 2^20 elements are read completely. Of larger segments, every s-th row of 32 elements is read, with
/// s = tiles / 128, at most 32. At least 2^19 elements, spread over all tiles, are read then. So the relative error of
/// a mean over a tail with the share q is 1 / sqrt(2^19 q), that is 1.4 % for q = 0.01, and a stage costs only about a
/// twentieth of a sweep.
class TailSums {
 public:
  explicit TailSums(const Tiles& tiles);

  Tails tails() const { return {m_thresholds.data(), m_partial.data(), m_begin.data()}; }

  /// Forms the sums over the elements of a above the thresholds of tails(), and runs last(block, s) for each segment
  /// that has tiles.
  template <class Last>
  void run(const Exec& exec, const Tiles& tiles, const float* a, const Last& last) const {
    for_tiles_then("gradcomp::kernels::tail_sums", exec, tiles,
                   detail::TailOfTile{tiles.tile.data(), m_begin.data(), m_thresholds.data(), m_partial.data(), a},
                   last);
  }

  index_t bytes() const;

 private:
  Vector<Tail> m_partial;      ///< [tiles]
  Vector<float> m_thresholds;  ///< [segments]
  Vector<index_t> m_begin;
};

}  // namespace gradcomp::kernels
