#pragma once
// First pass of a quantiser whose levels depend on the data: forms a = Source::accumulate() and takes the statistics of
// every group, some consecutive elements of a segment or all of it.
//
// Bytes: 1 read of n floats (2 reads and 1 write with a residual). Sums of 4096 elements or of a group in float lanes,
// in double where float would overflow or lose everything; those of whole segments in double, in a fixed order.
#include <vector>

#include "gradcomp/core/source.hpp"
#include "gradcomp/core/tally.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"

namespace gradcomp::kernels {

/// Statistics of a group.
struct Range {
  float low = 0, high = 0;      ///< smallest and largest a
  double sum = 0, squares = 0;  ///< of a and a^2
  index_t count = 0;            ///< elements, at least 1

  /// max |a|
  KOKKOS_INLINE_FUNCTION float largest() const { return -low > high ? -low : high; }
};

/// Groups of `length` elements (the last one of a segment shorter), or one for each segment that is not empty where
/// length = 0.
index_t group_count(const Layout& layout, index_t length);

/// The pass and its work space, made in prepare().
class GroupRanges {
 public:
  /// `length`: 0, or a power of two of 256 .. 8192.
  GroupRanges(const Layout& layout, index_t length);
  /// Makes the ranges of one segment those of its first `count` elements.
  void resize(const Exec& exec, index_t count);

  /// Forms a for the whole source and its ranges. Counts non-finite gradient elements, with which the ranges mean
  /// nothing.
  void run(const Exec& exec, const Source& source, const Tally& found);

  /// [group_count] of the last run.
  const Vector<Range>& ranges() const { return m_ranges; }
  index_t bytes() const;

  /// Elements [first, first + count) of the source, a group or a part of it.
  struct Chunk {
    index_t first, count;
  };

 private:
  index_t m_step;  ///< elements of a chunk
  Vector<Chunk> m_chunks;
  Vector<index_t> m_begin;  ///< [groups + 1] first chunk of each group; empty where a chunk is a group
  Vector<Range> m_partial;  ///< [chunks]; empty where a chunk is a group
  Vector<Range> m_ranges;
  Vector<Chunk> m_chunk_room;  ///< what m_chunks and m_ranges are the beginnings of
  Vector<Range> m_range_room;
};

}  // namespace gradcomp::kernels
