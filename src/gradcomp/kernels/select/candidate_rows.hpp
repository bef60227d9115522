#pragma once
// Collects candidates while a tile is read. Candidates::stage() and FirstPass share this code.
#include "gradcomp/kernels/lanes/row_masks.hpp"
#include "gradcomp/kernels/lanes/source_rows.hpp"
#include "gradcomp/kernels/select/candidates.hpp"

namespace gradcomp::kernels {

/// Prefetches the candidates of a later tile (at most tile `last`), while those of tile t are read. They are few and
/// lie a stride apart, so every tile would otherwise wait for memory.
KOKKOS_FORCEINLINE_FUNCTION void prefetch_run(const Runs& runs, index_t t, index_t last) {
  constexpr index_t tiles_ahead = 4, line = 16;
  if (lanes_are_threads || runs.staged == nullptr || t + tiles_ahead > last) return;
  const index_t first = (t + tiles_ahead) * runs.stride;
  for (int part = 0; part < 4; ++part) prefetch(runs.values + first + part * line);
  for (int part = 0; part < 2; ++part) prefetch(runs.offsets + first + 2 * part * line);
}

/// Prefetches what Source::sent() writes for the candidates of tile t (at most tile `last`): each lies in a line of its
/// own.
KOKKOS_FORCEINLINE_FUNCTION void prefetch_sent(const Source& source, const Runs& runs, index_t t, index_t last) {
  if (lanes_are_threads || source.kind == Source::Kind::none || runs.staged == nullptr || t > last ||
      runs.staged[t] > runs.slots) {
    return;
  }
  float* const memory = source.memory + runs.tile[t].first;
  float* const velocity = source.masking ? source.velocity + runs.tile[t].first : nullptr;
  const std::uint16_t* const offsets = runs.offsets + t * runs.stride;
  for (std::int32_t i = 0; i < runs.staged[t]; ++i) {
    prefetch<true>(memory + offsets[i]);
    if (velocity != nullptr) prefetch<true>(velocity + offsets[i]);
  }
}

/// Where the candidates of one tile go, and how many there are so far. Candidates beyond `room` are only counted.
struct TileSlots {
  float* value;
  std::uint16_t* offset;
  std::int32_t room;
  std::int32_t low;        ///< candidates are above this magnitude()
  std::int32_t found = 0;  ///< number of candidates so far

  /// Appends the candidates of a row, or of two, which `mask` marks: x[0], x[1], ... are elements `row`, `row` + 1, ...
  /// of the tile. Of the others, at most x[0] is read.
  template <class Mask>
  KOKKOS_FORCEINLINE_FUNCTION void append(const Warp& warp, const float* x, std::int32_t row, Mask mask) {
    float* const v = value + (found < room ? found : room);
    std::uint16_t* const o = offset + (found < room ? found : room);
    warp.for_set_padded(mask, [&](int l, int rank) {
      v[rank] = x[l];
      o[rank] = static_cast<std::uint16_t>(row + l);
    });
    found += Kokkos::popcount(mask);
  }

  /// Collects the candidates among elements row .. row + count - 1 of the tile, which are x[0 .. count - 1]; a host
  /// takes two rows at a time. A branch that skips rows without candidates pays only if nearly all rows have none: with
  /// 1 % of candidates it is mispredicted every third time.
  KOKKOS_FORCEINLINE_FUNCTION void collect(const Warp& warp, const float* x, std::int32_t row, std::int32_t count) {
    const std::int32_t limit = low;
    const bool few = room < tile_size / 32;
    std::int32_t e = 0;
    for (constexpr int two = 2 * warp_lanes; !lanes_are_threads && e + two <= count; e += two) {
      const std::uint64_t above = above_mask(warp, x + e + warp_lanes, limit);
      const std::uint64_t mask = above_mask(warp, x + e, limit) | above << warp_lanes;
      if (few && mask == 0) continue;
      append(warp, x + e, row + e, mask);
    }
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
