#include "gradcomp/kernels/lanes/tiles.hpp"

#include <algorithm>

#include "gradcomp/kernels/lanes/arrays.hpp"

namespace gradcomp::kernels {
namespace {

constexpr index_t team_warps = 8;

std::vector<TileGroup> make_groups(const std::vector<index_t>& elements, index_t tiles) {
  std::vector<TileGroup> groups;
  index_t first = 0;
  for (std::size_t s = 0; s < elements.size(); ++s) {
    const index_t end = first + (elements[s] + tile_size - 1) / tile_size;
    for (; first < end; first = groups.back().end)
      groups.push_back({first, std::min(end, first + tiles), static_cast<std::int32_t>(s)});
  }
  return groups;
}

}  // namespace

TileGroups::TileGroups(const std::vector<index_t>& elements, index_t tiles_of_group)
    : tiles(tiles_of_group),
      group(upload("gradcomp::kernels::tile_groups", make_groups(elements, tiles))),
      ticket("gradcomp::kernels::tile_group_tickets", elements.size()) {}

index_t TileGroups::count(index_t tile_count) const {
  const auto all = static_cast<index_t>(group.size());
  return ticket.size() == 1 ? std::min(all, (tile_count + tiles - 1) / tiles) : all;
}

index_t TileGroups::bytes() const {
  return static_cast<index_t>(group.size() * sizeof(TileGroup) + ticket.size() * sizeof(std::uint32_t));
}

Tiles::Tiles(const Layout& layout) : elements(layout.counts()), groups(elements, team_warps) {
  std::vector<Tile> tiles;
  std::vector<index_t> begins{0};
  std::int32_t s = 0;
  for (const auto& segment : layout.segments) {
    for (index_t done = 0; done < segment.count; done += tile_size) {
      tiles.push_back(
          {segment.offset + done, static_cast<std::int32_t>(std::min<index_t>(tile_size, segment.count - done)), s});
    }
    ++s;
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
  return static_cast<index_t>(room.size() * sizeof(Tile) + begin.size() * sizeof(index_t)) + groups.bytes();
}

}  // namespace gradcomp::kernels
