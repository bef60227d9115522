#pragma once
// The offsets of blocks in a receive buffer.
#include "gradcomp/comm/call.hpp"
#include "gradcomp/core/error.hpp"

namespace gradcomp::comm {

/// Fills the offsets: each block begins at the first aligned byte behind the block before it. Returns the end of the
/// last block.
inline index_t place_aligned(Blocks& blocks) {
  index_t end = 0;
  blocks.offset.resize(blocks.size.size());
  for (std::size_t r = 0; r < blocks.size.size(); ++r) {
    blocks.offset[r] = aligned(end);
    end = blocks.offset[r] + blocks.size[r];
  }
  return end;
}

/// place_aligned() for the sizes of an AllGatherV. If the end exceeds `capacity`, all ranks throw Error.
inline index_t place_gathered(Blocks& blocks, index_t capacity) {
  const index_t end = place_aligned(blocks);
  require(end <= capacity, "allgatherv: {} bytes from {} ranks do not fit {} bytes", end, blocks.size.size(), capacity);
  return end;
}

/// Fills found.blocks with what `rank` of `size` ranks receives in an AllToAllV, from found.all. If the parts for some
/// rank exceed `capacity`, all ranks throw Error.
inline void place_received(Found& found, int rank, int size, index_t capacity) {
  Blocks& received = found.blocks;
  const auto ranks = static_cast<std::size_t>(size);
  received.size.resize(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {  // every rank checks all ranks, itself last, so that all throw
    const std::size_t receiver = (static_cast<std::size_t>(rank) + 1 + r) % ranks;
    for (std::size_t s = 0; s < ranks; ++s) received.size[s] = found.all[s * ranks + receiver];
    const index_t end = place_aligned(received);
    require(end <= capacity, "alltoallv: {} bytes for rank {} do not fit {} bytes", end, receiver, capacity);
  }
}

}  // namespace gradcomp::comm
