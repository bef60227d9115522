#pragma once
// Segments that are cut into blocks of consecutive elements: scores of the blocks, and copies of whole blocks to and
// from a message.
#include <vector>

#include "gradcomp/core/source.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"

namespace gradcomp::compressors {

enum class BlockScore { l2, l1, max };

/// The blocks of one segment, and their part of a message.
struct SegmentBlocks {
  index_t first = 0;         ///< first element in the bucket
  index_t elements = 0;      ///< number of elements of the segment
  index_t length = 0;        ///< elements per block; the last block may have fewer
  index_t first_block = 0;   ///< number of its first block, counted through the bucket
  index_t chosen = 0;        ///< number of blocks that it sends
  index_t first_chosen = 0;  ///< place of its first sent block in the message
  index_t first_value = 0;   ///< place of the first value of that block
};

/// Blocks of `length` elements, of which each segment sends max(1, floor(ratio blocks)). A segment that is shorter than
/// `length` is one block.
struct BlockPlan {
  BlockPlan(const Layout& layout, index_t block_length, double ratio);

  index_t blocks() const { return scores.count(); }

  Layout scores;                       ///< one element for each block; the segments are those of the bucket
  std::vector<SegmentBlocks> on_host;  ///< [segments]
  Vector<SegmentBlocks> segments;      ///< [segments]
  index_t chosen = 0;                  ///< number of blocks in a message
  index_t values = 0;                  ///< number of their elements; short blocks are padded
};

/// Forms a = Source::accumulate() and writes one score for each block, at most `limit`: sqrt(sum a^2), sum |a| or max
/// |a|. Sums are double, so that no square overflows or vanishes. If a gradient element is not finite, scores[0] is
/// NaN. `bad`: [1] work space.
void score_blocks(const Exec& exec, const BlockPlan& plan, const Source& source, BlockScore kind, float limit,
                  const Vector<index_t>& bad, const Span<float>& scores);

/// values = a of the blocks `chosen`, padded with zeros behind a short block. `chosen` holds ascending block numbers,
/// of each segment as many as it sends. Reports the values to the source as sent exactly.
void gather_blocks(const Exec& exec, const BlockPlan& plan, const Span<const std::uint32_t>& chosen,
                   const Source& source, const Span<float>& values);

/// out += weight * values in the blocks `chosen`.
void scatter_blocks(const Exec& exec, const BlockPlan& plan, const Span<const std::uint32_t>& chosen,
                    const Span<const float>& values, float weight, const Span<float>& out);

/// Counts the numbers in `chosen` that break the rules of gather_blocks(). Waits for exec.
index_t count_bad_blocks(const Exec& exec, const BlockPlan& plan, const Span<const std::uint32_t>& chosen);

}  // namespace gradcomp::compressors
