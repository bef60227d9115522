// The first pass over a source, without a product.
#include "gradcomp/kernels/low_rank/low_rank.hpp"
#include "gradcomp/kernels/low_rank/low_rank_lanes.hpp"

namespace gradcomp::kernels {

void LowRankPlan::accumulate(const Exec& exec, const Source& source, const Span<float>& dense, const Mark& mark) const {
  const auto matrices = m_matrices;
  const auto tiles = m_tiles;
  for_warps(
      "gradcomp::kernels::low_rank_accumulate", exec, static_cast<index_t>(tiles.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t t) {
        const Rows tile = tiles(t);
        const Factored m = matrices(tile.matrix);
        const index_t first = m.first + static_cast<index_t>(tile.row) * m.columns;
        const index_t elements = static_cast<index_t>(tile.rows) * m.columns;
        Lanes<std::int32_t> bad;
        warp.each([&](int l) { bad[l] = 0; });
        accumulate_rows(warp, source, first, elements, bad, [](int, float, int) {});
        note_bad(warp, bad, mark);
      });
  accumulate_dense(exec, source, dense, mark);
}

void LowRankPlan::accumulate_dense(const Exec& exec, const Source& source, const Span<float>& dense,
                                   const Mark& mark) const {
  const auto dense_tiles = m_dense_tiles;
  for_warps(
      "gradcomp::kernels::low_rank_dense", exec, static_cast<index_t>(dense_tiles.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t t) {
        const Dense tile = dense_tiles(t);
        Lanes<std::int32_t> bad;
        warp.each([&](int l) { bad[l] = 0; });
        float* const target = dense.data() + tile.position;
        accumulate_rows(warp, source, tile.first, tile.count, bad, [&](int l, float a, int row) {
          if (row * warp_lanes + l < tile.count) target[row * warp_lanes + l] = a;
        });
        note_bad(warp, bad, mark);
      });
}

}  // namespace gradcomp::kernels
