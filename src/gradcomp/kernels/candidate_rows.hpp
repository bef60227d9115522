#pragma once
// Collecting candidates while a tile is read: the body that Candidates::stage() and FirstPass share.
#include "gradcomp/kernels/source_rows.hpp"
#include "gradcomp/kernels/tiles.hpp"

namespace gradcomp::kernels {

/// Bit l: |x[l]| lies above the bound, a magnitude().
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t above_mask(const Warp& warp, const float* x, std::int32_t low) {
  return warp.ballot([&](int l) { return magnitude(x[l]) > low; });
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

  /// Elements row .. row + count - 1 of the tile, which are x[0] and on. Where few are candidates most groups of rows
  /// have none, which their lanes' maxima tell.
  KOKKOS_FORCEINLINE_FUNCTION void collect(const Warp& warp, const float* x, std::int32_t row, std::int32_t count) {
    constexpr int rows = 4;
    const std::int32_t limit = low;
    const bool few = room < tile_size / 32;
    std::int32_t e = 0;
    for (; e + rows * warp_lanes <= count; e += rows * warp_lanes) {
      const float* const group = x + e;
      if (few) {
        const std::uint32_t any = warp.ballot([&](int l) {
          std::int32_t most = magnitude(group[l]);
          GRADCOMP_UNROLL
          for (int r = 1; r < rows; ++r) most = Kokkos::max(most, magnitude(group[r * warp_lanes + l]));
          return most > limit;
        });
        if (any == 0) continue;
      }
      for (int r = 0; r < rows; ++r) {
        const float* const at = group + r * warp_lanes;
        append(warp, at, row + e + r * warp_lanes, above_mask(warp, at, limit));
      }
    }
    for (; e < count; e += warp_lanes) {
      const int active = count - e;
      const float* const at = x + e;
      const std::uint32_t mask = active >= warp_lanes
                                     ? above_mask(warp, at, limit)
                                     : warp.ballot([&](int l) { return l < active && magnitude(at[l]) > limit; });
      append(warp, at, row + e, mask);
    }
  }
};

}  // namespace gradcomp::kernels
