#pragma once
// Candidates: the elements of every tile whose magnitude is above a bound, kept in order. Collecting them takes one
// read of a; the later steps of a selection access only the candidates.
//
// A tile stores up to `slots` candidates. If a tile has more, it is "dense": its stored candidates are not used, and
// the tile is read again instead. So the work space stays a fraction of the gradient for all data.
#include "gradcomp/core/source.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"

namespace gradcomp::kernels {

/// The search in one segment: the choice starts it, and Radix::narrow() narrows it. All bounds are magnitude()s.
struct SegmentSearch {
  std::int32_t low = -1;    ///< candidates are above this bound; -1: every element is a candidate
  std::int32_t high = -1;   ///< entries above this bound are taken, and the first rank - above of those equal to it
  index_t above = 0;        ///< how many entries are above `high` (for a segment with a rank)
  index_t rank = 0;         ///< the `rank` largest are taken exactly (ties by lowest index); 0: all above `high`
  index_t sample_rank = 0;  ///< the rank in the sample that gives `low`; 0: `low` is known
  index_t out = 0;          ///< index of the first entry of the segment in the message
  std::int32_t open = 1;    ///< 0: the candidates are collected already, and stage() keeps them
  index_t end = 0;          ///< index behind the last entry: entries from there on are neither written nor sent
};

/// Consecutive values of one tile to search. `offsets` are their indices in the tile (null: 0, 1, 2, ...).
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
  const std::int32_t* low = nullptr;  ///< [segments] bounds; null, or no_bound in a segment: nothing is collected
  float* values = nullptr;            ///< as in Runs
  std::uint16_t* offsets = nullptr;
  std::int32_t* staged = nullptr;  ///< [tiles]
  std::int32_t *above = nullptr, *equal = nullptr;
  std::int32_t slots = 0, stride = 0;
};
/// The bound of segments that need no candidates.
inline constexpr std::int32_t no_bound = 0x7fffffff;

class Candidates {
 public:
  /// Tiles have slots for about three times `density` of their elements.
  Candidates(const Tiles& tiles, double density);

  /// Collects the elements of a with magnitude above searches(segment).low, in the segments that are open.
  void stage(const Exec& exec, const Tiles& tiles, const float* a, const Vector<SegmentSearch>& searches);

  /// Room for another pass over `a` that collects the elements above low(segment) itself.
  Collector collector(const float* a, const Vector<std::int32_t>& low);

  /// Counts again, in segments that are not open, what the searches take: in segments whose candidates were collected
  /// above a bound below their threshold; and, if `exact`, in segments with a rank, for which `high` and `above` must
  /// be known.
  void recount(const Exec& exec, const Tiles& tiles, const Vector<SegmentSearch>& searches, bool exact);

  /// Finds where the entries of each tile go: behind those of the tiles before. totals[segment] = entries taken.
  void place(const Exec& exec, const Tiles& tiles, const Vector<SegmentSearch>& searches,
             const Vector<index_t>& totals);

  /// Writes the entries that the searches take, with segments and elements ascending, and reports them to the source as
  /// sent.
  void emit(const Exec& exec, const Tiles& tiles, const Source& source, const Vector<SegmentSearch>& searches,
            std::uint32_t* indices, float* values);

  Runs runs(const Tiles& tiles) const;
  /// The share of the elements of a tile for which it has slots.
  double room() const { return static_cast<double>(m_slots) / tile_size; }
  index_t bytes() const;

 private:
  std::int32_t m_slots, m_stride;
  Vector<float> m_values;
  Vector<std::uint16_t> m_offsets;
  Vector<std::int32_t> m_staged, m_above, m_equal, m_quota;  ///< [tiles]; quota: ties that the tile may take
  Vector<index_t> m_start;                                   ///< [tiles] first entry, counted in the segment
  const float* m_a = nullptr;
};

}  // namespace gradcomp::kernels
