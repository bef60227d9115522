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
  tile = shortened("gradcomp::kernels::fit_tiles", exec, room, begin, tile_size, count);
  elements[0] = count;
}

index_t Tiles::bytes() const {
  return static_cast<index_t>(room.size() * sizeof(Tile) + begin.size() * sizeof(index_t));
}

}  // namespace gradcomp::kernels
