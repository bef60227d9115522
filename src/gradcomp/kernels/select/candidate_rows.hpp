#pragma once
// Collecting candidates while a tile is read: the body that Candidates::stage() and FirstPass share.
#include "gradcomp/kernels/lanes/row_masks.hpp"
#include "gradcomp/kernels/lanes/source_rows.hpp"
#include "gradcomp/kernels/select/candidates.hpp"

namespace gradcomp::kernels {

/// Asks a host for the candidates of a later tile, at most `last`, while those of tile t are looked at: they are few
/// and lie a stride apart, so every tile would wait for memory.
KOKKOS_FORCEINLINE_FUNCTION void prefetch_run([[maybe_unused]] const Runs& runs, [[maybe_unused]] index_t t,
                                              [[maybe_unused]] index_t last) {
#if defined(__GNUC__) && !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
  constexpr index_t ahead = 4, line = 16;
  if (runs.staged == nullptr || t + ahead > last) return;
  for (int part = 0; part < 4; ++part) __builtin_prefetch(runs.values + (t + ahead) * runs.stride + part * line);
  for (int part = 0; part < 2; ++part) __builtin_prefetch(runs.offsets + (t + ahead) * runs.stride + 2 * part * line);
#endif
}

/// Where the candidates of one tile go, and how many there are so far; those past `room` are counted, but not kept.
struct TileSlots {
  float* value;
  std::uint16_t* offset;
  std::int32_t room;
  std::int32_t low;        ///< candidates lie above it
  std::int32_t found = 0;  ///< candidates

  /// Appends those of a row, x[0 .. 31], elements `row` and on of the tile.
  KOKKOS_FORCEINLINE_FUNCTION void append(const Warp& warp, const float* x, std::int32_t row, std::uint32_t mask) {
    float* const v = value + (found < room ? found : room);
    std::uint16_t* const o = offset + (found < room ? found : room);
    warp.for_set_padded(mask, [&](int l, int rank) {
      v[rank] = x[l];
      o[rank] = static_cast<std::uint16_t>(row + l);
    });
    found += Kokkos::popcount(mask);
  }

  /// Elements row .. row + count - 1 of the tile, which are x[0] and on. A branch on rows without candidates pays only
  /// where nearly all are: at 1 % it is mispredicted every third time.
  KOKKOS_FORCEINLINE_FUNCTION void collect(const Warp& warp, const float* x, std::int32_t row, std::int32_t count) {
    const std::int32_t limit = low;
    const bool few = room < tile_size / 32;
    std::int32_t e = 0;
    for (; e + warp_lanes <= count; e += warp_lanes) {
      const std::uint32_t mask = above_mask(warp, x + e, limit);
      if (few && mask == 0) continue;
      append(warp, x + e, row + e, mask);
    }
    if (e < count) {
      const int active = count - e;
      const float* const at = x + e;
      const std::uint32_t mask = warp.ballot([&](int l) { return l < active && magnitude(at[l]) > limit; });
      append(warp, at, row + e, mask);
    }
  }
};

}  // namespace gradcomp::kernels
