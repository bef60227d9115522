#pragma once
// Where blocks of given sizes begin in what a rank receives.
#include "gradcomp/comm/call.hpp"
#include "gradcomp/core/error.hpp"

namespace gradcomp::comm {

/// Fills the offsets for the sizes, one block behind the other, aligned; returns the end of the last one.
inline index_t place_aligned(Blocks& blocks) {
  index_t end = 0;
  blocks.offset.resize(blocks.size.size());
  for (std::size_t r = 0; r < blocks.size.size(); ++r) {
    blocks.offset[r] = aligned(end);
    end = blocks.offset[r] + blocks.size[r];
  }
  return end;
}

/// Offsets for the sizes that an AllGatherV received; returns the end of the last block. Throws Error on all ranks when
/// that exceeds `capacity`.
inline index_t place_gathered(Blocks& blocks, index_t capacity) {
  const index_t end = place_aligned(blocks);
  require(end <= capacity, "allgatherv: {} bytes from {} ranks do not fit {} bytes", end, blocks.size.size(), capacity);
  return end;
}

/// What `rank` of `size` receives in an AllToAllV, from found.all to found.blocks. Throws Error on all ranks when the
/// parts for some rank exceed `capacity`.
inline void place_received(Found& found, int rank, int size, index_t capacity) {
  Blocks& received = found.blocks;
  const auto ranks = static_cast<std::size_t>(size);
  received.size.resize(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {  // every rank checks all, so that all throw; this one comes last
    const std::size_t receiver = (static_cast<std::size_t>(rank) + 1 + r) % ranks;
    for (std::size_t s = 0; s < ranks; ++s) received.size[s] = found.all[s * ranks + receiver];
    const index_t end = place_aligned(received);
    require(end <= capacity, "alltoallv: {} bytes for rank {} do not fit {} bytes", end, receiver, capacity);
  }
}

}  // namespace gradcomp::comm
