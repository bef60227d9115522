#pragma once
// Candidates: the entries of every tile whose magnitude lies above a bound, kept in order. One read of a; the later
// steps of a selection touch only them.
//
// A tile stores up to `slots` candidates. A tile with more is "dense": it stores none, and whoever needs its candidates
// reads the tile again. So the work space stays a fraction of the gradient, whatever the data.
#include "gradcomp/core/source.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"

namespace gradcomp::kernels {

/// What a segment is looking for; the host writes it, narrow() sharpens it. All bounds are magnitude()s.
struct SegmentSearch {
  std::int32_t low = -1;    ///< candidates lie above it; -1: every element is one
  std::int32_t high = -1;   ///< entries above it are taken, of those equal to it the first rank - above
  index_t above = 0;        ///< how many lie above `high` (of a segment with a rank)
  index_t rank = 0;         ///< the rank-th largest is wanted exactly (ties by lowest index); 0: all above `high`
  index_t sample_rank = 0;  ///< the same among the sample, to find `low`; 0: `low` is known
  index_t out = 0;          ///< place of the segment's first entry in the message
  std::int32_t open = 1;    ///< 0: its candidates are collected, stage() leaves them alone
  index_t end = 0;          ///< place behind its last entry: what is taken beyond is neither written nor sent
};

/// Consecutive values to look through, of one tile. `offsets` (null: the tile's own order) places them in the tile.
struct Run {
  const float* values;
  const std::uint16_t* offsets;
  std::int32_t count;
};

/// Where the values of each tile are; a small value type that kernels capture.
struct Runs {
  const Tile* tile = nullptr;
  const float* values = nullptr;           ///< [tiles][stride]; null: the tiles of `a`
  const std::uint16_t* offsets = nullptr;  ///< [tiles][stride]
  const std::int32_t* staged = nullptr;    ///< [tiles] candidates; null: `slots` of each tile, or all it has
  const float* a = nullptr;                ///< the whole array, for dense tiles
  std::int32_t slots = 0, stride = 0;

  KOKKOS_INLINE_FUNCTION Run operator()(index_t t) const {
    const Tile here = tile[t];
    if (values == nullptr) return {a + here.first, nullptr, here.count};
    if (staged == nullptr) return {values + t * stride, nullptr, here.count < slots ? here.count : slots};
    if (staged[t] > slots) return {a + here.first, nullptr, here.count};
    return {values + t * stride, offsets + t * stride, staged[t]};
  }
};

/// Where a pass that forms a puts the candidates of each tile; a small value type that kernels capture.
struct Collector {
  const std::int32_t* low = nullptr;  ///< [segments] bound; null, or no_bound: nothing is collected
  float* values = nullptr;            ///< as Runs'
  std::uint16_t* offsets = nullptr;
  std::int32_t* staged = nullptr;  ///< [tiles]
  std::int32_t *above = nullptr, *equal = nullptr;
  std::int32_t slots = 0, stride = 0;
};
/// A bound of segments that want no candidates.
inline constexpr std::int32_t no_bound = 0x7fffffff;

class Candidates {
 public:
  /// Room for tiles with up to three times `density` of their elements.
  Candidates(const Tiles& tiles, double density);

  /// Collects the elements of a with magnitude above searches(segment).low, in the segments that are open.
  void stage(const Exec& exec, const Tiles& tiles, const float* a, const Vector<SegmentSearch>& searches);

  /// Room for a pass over a = `a` that collects the elements above low(segment) itself.
  Collector collector(const float* a, const Vector<std::int32_t>& low);

  /// Counts again, now by what the searches take: for segments whose candidates lie above a bound below their
  /// threshold, and, when `exact`, for those with a rank, once `high` and `above` are known. Not in open ones.
  void recount(const Exec& exec, const Tiles& tiles, const Vector<SegmentSearch>& searches, bool exact);

  /// Places every tile's entries behind those of the tiles before it. totals[segment] = entries taken.
  void place(const Exec& exec, const Tiles& tiles, const Vector<SegmentSearch>& searches,
             const Vector<index_t>& totals);

  /// Writes the entries that the searches take, segments and elements ascending, and tells the source that they are
  /// sent.
  void emit(const Exec& exec, const Tiles& tiles, const Source& source, const Vector<SegmentSearch>& searches,
            std::uint32_t* indices, float* values);

  Runs runs(const Tiles& tiles) const;
  /// Share of a tile that it has slots for.
  double room() const { return static_cast<double>(m_slots) / tile_size; }
  index_t bytes() const;

 private:
  std::int32_t m_slots, m_stride;
  Vector<float> m_values;
  Vector<std::uint16_t> m_offsets;
  Vector<std::int32_t> m_staged, m_above, m_equal, m_quota;  ///< [tiles]; quota: ties that the tile may take
  Vector<index_t> m_start;                                   ///< [tiles] place in the segment
  const float* m_a = nullptr;
};

}  // namespace gradcomp::kernels
