#include "gradcomp/kernels/lanes/tiles.hpp"

#include <algorithm>

#include "gradcomp/kernels/lanes/arrays.hpp"

namespace gradcomp::kernels {

Tiles::Tiles(const Layout& layout) {
  std::vector<Tile> tiles;
  std::vector<index_t> begins{0};
  for (const auto& segment : layout.segments) {
    for (index_t done = 0; done < segment.count; done += tile_size) {
      tiles.push_back({segment.offset + done,
                       static_cast<std::int32_t>(std::min<index_t>(tile_size, segment.count - done)),
                       static_cast<std::int32_t>(elements.size())});
    }
    elements.push_back(segment.count);
    begins.push_back(static_cast<index_t>(tiles.size()));
  }
  tile = room = upload("gradcomp::kernels::tile", tiles);
  begin = upload("gradcomp::kernels::tile_begin", begins);
}

void Tiles::resize(const Exec& exec, index_t count) {
  const index_t tiles = (count + tile_size - 1) / tile_size;
  tile = first_of(room, tiles);
  elements[0] = count;
  const auto target = tile;
  const auto begins = begin;
  Kokkos::parallel_for(
      "gradcomp::kernels::fit_tiles", IndexRange(exec, 0, tiles + 1), KOKKOS_LAMBDA(const index_t t) {
        const index_t left = count - t * tile_size;
        if (t == tiles) {
          begins(1) = tiles;
        } else {
          target(t).count = static_cast<std::int32_t>(left < tile_size ? left : tile_size);
        }
      });
}

index_t Tiles::bytes() const {
  return static_cast<index_t>(room.size() * sizeof(Tile) + begin.size() * sizeof(index_t));
}

}  // namespace gradcomp::kernels
