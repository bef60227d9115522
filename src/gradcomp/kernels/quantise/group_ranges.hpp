#pragma once
// The first pass of a quantiser whose levels depend on the data: forms a = Source::accumulate() and the statistics of
// every group (`group=`): consecutive elements of a segment, or all of them.
//
// Passes: 1 read of n floats (2 reads and 1 write with a residual). The sums of 4096 elements or of a group are formed
// in float lanes, or in double if float would overflow or lose all bits. Sums over whole segments are in double and
// have a fixed order.
#include <vector>

#include "gradcomp/core/payload.hpp"
#include "gradcomp/core/source.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"
#include "gradcomp/kernels/quantise/groups.hpp"

namespace gradcomp::kernels {

/// Statistics of a group.
struct Range {
  float low = 0, high = 0;      ///< smallest and largest a
  double sum = 0, squares = 0;  ///< of a and a^2
  index_t count = 0;            ///< elements, at least 1

  /// max |a|
  KOKKOS_INLINE_FUNCTION float largest() const { return -low > high ? -low : high; }
};

/// The number of groups of `length` elements, of which the last one of a segment may be shorter. If length = 0, every
/// segment that is not empty is one group.
index_t group_count(const Layout& layout, index_t length);

/// The pass and its work space, made in prepare().
class GroupRanges {
 public:
  /// `length`: 0, or a power of two of 256 .. 8192.
  GroupRanges(const Layout& layout, index_t length);
  /// Restricts the ranges of a layout of one segment to its first `count` elements.
  void resize(const Exec& exec, index_t count);

  /// Forms a for the whole source, and its ranges. Notes elements that are not finite; the ranges are
  /// then those of the others.
  void run(const Exec& exec, const Source& source, const Mark& mark);

  /// [group_count], from the last run().
  const Vector<Range>& ranges() const { return m_ranges; }
  index_t bytes() const;

  /// Elements [first, first + count) of the source, a group or a part of it.
  struct Chunk {
    index_t first, count;
  };

 private:
  index_t m_step;  ///< elements of a chunk
  Vector<Chunk> m_chunks;
  Vector<index_t> m_begin;  ///< [groups + 1] first chunk of each group; empty if chunks are groups
  Vector<Range> m_partial;  ///< [chunks]; empty if chunks are groups
  Vector<Range> m_ranges;
  Vector<Chunk> m_chunk_room;  ///< all chunks and ranges; m_chunks and m_ranges are their beginnings
  Vector<Range> m_range_room;
};

}  // namespace gradcomp::kernels
