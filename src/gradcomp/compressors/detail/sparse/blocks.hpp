#pragma once
// Segments cut into blocks of consecutive elements: their scores, and whole blocks to and from a message.
#include <vector>

#include "gradcomp/core/source.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"

namespace gradcomp::compressors {

enum class BlockScore { l2, l1, max };

/// The blocks of one segment, and which part of a message is theirs.
struct SegmentBlocks {
  index_t first = 0;         ///< first element in the bucket
  index_t elements = 0;      ///< of the segment
  index_t length = 0;        ///< elements of a block; the last one may have fewer
  index_t first_block = 0;   ///< number of its first block among all of the bucket
  index_t chosen = 0;        ///< blocks that it sends
  index_t first_chosen = 0;  ///< place of the first of them in the message
  index_t first_value = 0;   ///< and of that one's first value
};

/// Blocks of `length` elements, of the whole segment where that is shorter; max(1, floor(ratio blocks)) of them travel.
struct BlockPlan {
  BlockPlan(const Layout& layout, index_t block_length, double ratio);

  index_t blocks() const { return scores.count(); }

  Layout scores;                       ///< one element for each block, segments as in the bucket
  std::vector<SegmentBlocks> on_host;  ///< [segments]
  Vector<SegmentBlocks> segments;      ///< [segments]
  index_t chosen = 0;                  ///< blocks of a message
  index_t values = 0;                  ///< their elements, short ones padded
};

/// Forms a = Source::accumulate() and writes one score for each block, at most `limit`: sqrt(sum a^2), sum |a| (both
/// summed in double, so that no square overflows or vanishes) or max |a|. Where a gradient element is not finite,
/// scores[0] = NaN. `bad`: [1] work space.
void score_blocks(const Exec& exec, const BlockPlan& plan, const Source& source, BlockScore kind, float limit,
                  const Vector<index_t>& bad, const Span<float>& scores);

/// values = a of the blocks `chosen` (ascending numbers, each segment with as many as it sends), zeros behind a short
/// one; reports them to the source as sent exactly.
void gather_blocks(const Exec& exec, const BlockPlan& plan, const Span<const std::uint32_t>& chosen,
                   const Source& source, const Span<float>& values);

/// out += weight * values at the blocks `chosen`.
void scatter_blocks(const Exec& exec, const BlockPlan& plan, const Span<const std::uint32_t>& chosen,
                    const Span<const float>& values, float weight, const Span<float>& out);

/// Numbers in `chosen` that gather_blocks() could not have been given. Waits for exec.
index_t count_bad_blocks(const Exec& exec, const BlockPlan& plan, const Span<const std::uint32_t>& chosen);

}  // namespace gradcomp::compressors
