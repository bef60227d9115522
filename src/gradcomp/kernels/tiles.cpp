#include "gradcomp/kernels/tiles.hpp"

#include <algorithm>
#include <string>

namespace gradcomp::kernels {
namespace {

/// Device copy of a host list.
template <class T>
Vector<T> upload(const std::string& label, const std::vector<T>& list) {
  const Vector<T> device(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), list.size());
  Kokkos::deep_copy(device, Kokkos::View<const T*, Kokkos::HostSpace>(list.data(), list.size()));
  return device;
}

}  // namespace

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
  tile = upload("gradcomp::kernels::tile", tiles);
  begin = upload("gradcomp::kernels::tile_begin", begins);
}

index_t Tiles::bytes() const {
  return static_cast<index_t>(tile.size() * sizeof(Tile) + begin.size() * sizeof(index_t));
}

}  // namespace gradcomp::kernels
