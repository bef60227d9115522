#include "gradcomp/kernels/select/accumulate.hpp"

#include "gradcomp/kernels/lanes/note.hpp"
#include "gradcomp/kernels/lanes/source_rows.hpp"

namespace gradcomp::kernels {

void accumulate(const Exec& exec, const Tiles& tiles, const Source& source, const Mark& mark) {
  const auto tile = tiles.tile;
  for_warps(
      "gradcomp::kernels::accumulate", exec, tiles.count(), KOKKOS_LAMBDA(const Warp& warp, index_t t) {
        const Tile here = tile(t);
        Lanes<std::int32_t> bad;
        warp.each([&](int l) { bad[l] = 0; });
        accumulate_rows(warp, source, here.first, here.count, bad, [](int, float, int) {});
        note_bad(warp, bad, mark);
      });
}

}  // namespace gradcomp::kernels
