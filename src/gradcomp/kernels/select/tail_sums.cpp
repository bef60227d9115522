#include "gradcomp/kernels/select/tail_sums.hpp"

#include "gradcomp/kernels/lanes/source_rows.hpp"

namespace gradcomp::kernels {
namespace {

/// Every how many rows of a tile one row is read.
KOKKOS_INLINE_FUNCTION index_t row_stride(index_t tiles) {
  const index_t stride = tiles / 128;
  return stride < 1 ? 1 : (stride > 32 ? 32 : stride);
}

}  // namespace

TailSums::TailSums(const Tiles& tiles)
    : m_partial(Kokkos::view_alloc(Kokkos::WithoutInitializing, "gradcomp::kernels::tail_partial"),
                static_cast<std::size_t>(tiles.count())),
      m_thresholds("gradcomp::kernels::tail_thresholds", static_cast<std::size_t>(tiles.segments())),
      m_begin(tiles.begin) {}

void TailSums::run(const Exec& exec, const Tiles& tiles, const float* a) const {
  const auto tile = tiles.tile;
  const auto begin = m_begin;
  const auto partial = m_partial;
  const auto limits = m_thresholds;
  for_warps(
      "gradcomp::kernels::tail_sums", exec, tiles.count(), KOKKOS_LAMBDA(const Warp& warp, index_t t) {
        const Tile here = tile(t);
        const float limit = limits(here.segment);
        if (limit < 0) return;
        const index_t stride = row_stride(begin(here.segment + 1) - begin(here.segment));
        const auto hash = static_cast<std::uint32_t>(t) * 0x9e3779b1u >> 16;
        const auto step = static_cast<std::int32_t>(stride * warp_lanes);
        Lanes<float> excess, squares;
        Lanes<std::int32_t> count;
        warp.each([&](int l) {
          excess[l] = squares[l] = 0;
          count[l] = 0;
        });
        std::int32_t seen = 0;
        for (auto row = static_cast<std::int32_t>(hash % stride) * warp_lanes; row < here.count; row += step) {
          const int active = here.count - row;
          Lanes<float> x;
          load_row(warp, a + here.first + row, active, x);  // lanes behind the end hold 0, which exceeds no threshold
          warp.each([&](int l) {
            const float over = Kokkos::abs(x[l]) - limit;
            const float above = over > 0 ? over : 0.0f;
            excess[l] += above;
            squares[l] += above * above;
            count[l] += over > 0 ? 1 : 0;
          });
          seen += active < warp_lanes ? active : warp_lanes;
        }
        const Tail sum{seen, warp.sum(count), static_cast<double>(warp.sum(excess)),
                       static_cast<double>(warp.sum(squares))};
        warp.once([&] { partial(t) = sum; });
      });
}

index_t TailSums::bytes() const {
  return static_cast<index_t>(m_partial.size() * sizeof(Tail) + m_thresholds.size() * sizeof(float));
}

}  // namespace gradcomp::kernels
