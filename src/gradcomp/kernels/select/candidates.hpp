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
  index_t inside = 0;       ///< how many are in (low, high], once Radix has narrowed it
  index_t enough = 0;       ///< Radix need not narrow it when so few are inside
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

namespace detail {
/// What Candidates::place() reads and writes.
struct Places {
  const index_t* begin;         ///< [segments + 1] first tile
  std::int32_t *above, *equal;  ///< [tiles] entries of a tile above the threshold, and equal to it
  std::int32_t* quota;          ///< [tiles] entries among the latter that it sends
  index_t* start;               ///< [tiles] first entry, counted in the segment
  index_t* totals;              ///< [segments]
};
}  // namespace detail

class Candidates {
 public:
  /// Tiles have slots for about three times `density` of their elements.
  Candidates(const Tiles& tiles, double density);

  /// Collects the elements of a with magnitude above searches(segment).low, in the segments that are open.
  void stage(const Exec& exec, const Tiles& tiles, const float* a, const Vector<SegmentSearch>& searches);

  /// Room for another pass over `a` that collects the elements above low(segment) itself.
  Collector collector(const float* a, const Vector<std::int32_t>& low);

  /// Counts again what the searches take, in segments that are not open and whose candidates were collected above a
  /// bound below their threshold. Then place().
  void recount(const Exec& exec, const Tiles& tiles, const Vector<SegmentSearch>& searches,
               const Vector<index_t>& totals);

  /// In segments with a rank that are not open: finds the rank-th largest, which must be in (low, high], and makes it
  /// `high`; counts in every tile what is above it, and equal to it. At most list_room() may be inside, unless low + 1
  /// = high. Then place().
  void rank(const Exec& exec, const Tiles& tiles, const Vector<SegmentSearch>& searches, const Vector<index_t>& totals);

  /// The number of values that rank() can list for each tile of a segment.
  static KOKKOS_INLINE_FUNCTION std::int32_t list_room(std::int32_t slots) { return slots / 8; }

  /// Finds where the entries of each tile go: behind those of the tiles before. totals[segment] = entries taken.
  void place(const Exec& exec, const Tiles& tiles, const Vector<SegmentSearch>& searches,
             const Vector<index_t>& totals);

  /// Writes the entries that the searches take, with segments and elements ascending, and reports them to the source as
  /// sent.
  void emit(const Exec& exec, const Tiles& tiles, const Source& source, const Vector<SegmentSearch>& searches,
            std::uint32_t* indices, float* values);

  Runs runs(const Tiles& tiles) const;
  /// The number of candidates for which each tile has room.
  std::int32_t slots() const { return m_slots; }
  index_t bytes() const;

 private:
  detail::Places places(const Tiles& tiles, const Vector<index_t>& totals) const;

  std::int32_t m_slots, m_stride;
  Vector<float> m_values;
  Vector<std::uint16_t> m_offsets;
  Vector<std::int32_t> m_staged, m_above, m_equal, m_quota;  ///< [tiles]; quota: ties that the tile may take
  Vector<index_t> m_start;                                   ///< [tiles] first entry, counted in the segment
  Vector<std::int32_t> m_list, m_list_tile;  ///< [tiles][list_room] magnitudes of a segment, together, and their tiles
  Vector<std::int32_t> m_listed;             ///< [segments] how many; 0 between calls
  const float* m_a = nullptr;
};

}  // namespace gradcomp::kernels
