#pragma once
// Segments cut into tiles of 4096 floats, the unit of work of every batched kernel. A tile has 16 KiB, so that it stays
// in the first-level cache.
#include <vector>

#include "gradcomp/core/layout.hpp"

namespace gradcomp::kernels {

inline constexpr int tile_size = 4096;

/// Elements [first, first + count) of the bucket; the last tile of a segment may be shorter. Never empty.
struct Tile {
  index_t first;
  std::int32_t count;
  std::int32_t segment;
};

/// Tiles [begin, end) of one segment, for one team.
struct TileGroup {
  index_t begin, end;
  std::int32_t segment;
};

/// Tiles cut into groups; a small value type that kernels capture.
struct TileGroups {
  /// Groups of `tiles_of_group` tiles in each segment, the last one of a segment smaller. `elements`: of each segment.
  TileGroups(const std::vector<index_t>& elements, index_t tiles_of_group);

  /// The number of groups, where Tiles::resize() may have left fewer tiles.
  index_t count(index_t tile_count) const;
  index_t bytes() const;
  /// `begin`: Tiles::begin.
  KOKKOS_FORCEINLINE_FUNCTION TileGroup operator()(index_t g, const index_t* begin) const {
    TileGroup of_g = group(g);
    if (of_g.end > begin[of_g.segment + 1]) of_g.end = begin[of_g.segment + 1];
    return of_g;
  }

  index_t tiles;
  Vector<TileGroup> group;
  Vector<std::uint32_t> ticket;  ///< [segments] 0 between launches: teams that have ended in a segment
};

/// All tiles of a layout, in order. Made once, in prepare().
struct Tiles {
  explicit Tiles(const Layout& layout);
  /// Restricts the tiles of a layout of one segment to its first `count` elements.
  void resize(const Exec& exec, index_t count);

  index_t count() const { return static_cast<index_t>(tile.size()); }
  index_t segments() const { return static_cast<index_t>(elements.size()); }
  index_t bytes() const;

  Vector<Tile> tile;              ///< [count]
  Vector<index_t> begin;          ///< [segments + 1] first tile of each segment
  std::vector<index_t> elements;  ///< [segments] on the host
  Vector<Tile> room;              ///< all tiles; `tile` is its beginning
  TileGroups groups;              ///< one tile for each warp of a device's team
};

/// The low 31 bits of a float as an integer. It is monotone in |value| and exact for denormals; NaN is above infinity.
KOKKOS_FORCEINLINE_FUNCTION std::int32_t magnitude(float value) {
  return static_cast<std::int32_t>(Kokkos::bit_cast<std::uint32_t>(value) & 0x7fffffffu);
}

}  // namespace gradcomp::kernels
