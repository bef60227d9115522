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
};

/// The low 31 bits of a float as an integer. It is monotone in |value| and exact for denormals; NaN is above infinity.
KOKKOS_FORCEINLINE_FUNCTION std::int32_t magnitude(float value) {
  return static_cast<std::int32_t>(Kokkos::bit_cast<std::uint32_t>(value) & 0x7fffffffu);
}

}  // namespace gradcomp::kernels
