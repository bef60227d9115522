#include "gradcomp/kernels/select/count_above.hpp"

#include "gradcomp/core/shared.hpp"
#include "gradcomp/kernels/lanes/prefetch.hpp"

namespace gradcomp::kernels {
namespace {

using detail::ProbeCounts, detail::ProbeLimits, detail::Reads;

/// Counts in one tile.
struct CountTile {
  const Tile* tile;
  const ProbeLimits* limits;  ///< [segments]
  ProbeCounts* partial;       ///< [tiles]
  const float* a;
  Runs list;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Warp& warp, index_t t) const {
    const Tile here = tile[t];
    const ProbeLimits limit = limits[here.segment];
    if (limit.reads == Reads::nothing) return;
    Lanes<std::int32_t> above[max_probes];
    for (int p = 0; p < max_probes; ++p) warp.each([&](int l) { above[p][l] = 0; });
    const Run run = limit.reads == Reads::list ? list(t) : Run{a + here.first, nullptr, here.count};
    const float* const values = run.values;
    for_parts(values, run.count, [&](index_t first, index_t size) {
      each_element(warp, size, [&](int l, index_t e) {
        const std::int32_t bits = magnitude(values[first + e]);
        for (int p = 0; p < max_probes; ++p) above[p][l] += bits > limit.at[p] ? 1 : 0;
      });
    });
    ProbeCounts counts;
    for (int p = 0; p < max_probes; ++p) counts.at[p] = static_cast<std::uint32_t>(warp.sum(above[p]));
    warp.once([&] { partial[t] = counts; });
  }
};

}  // namespace

CountAbove::CountAbove(const Tiles& tiles)
    : m_limits("gradcomp::kernels::count_limits", static_cast<std::size_t>(tiles.segments())),
      m_partial(Kokkos::view_alloc(Kokkos::WithoutInitializing, "gradcomp::kernels::count_partial"),
                static_cast<std::size_t>(tiles.count())),
      m_totals("gradcomp::kernels::count_totals", static_cast<std::size_t>(tiles.segments())) {}

void CountAbove::run(const Exec& exec, const Tiles& tiles, const float* a, const Runs& list, bool host_looks) const {
  if (host_looks && !any_asked()) return;
  const CountTile each{tiles.tile.data(), m_limits.data(), m_partial.data(), a, list};
  const index_t* const begin = tiles.begin.data();
  ProbeCounts* const totals = m_totals.data();
  for_tiles_then(
      "gradcomp::kernels::count_above", exec, tiles, each, KOKKOS_LAMBDA(const Block& block, index_t s) {
        if (each.limits[s].reads == Reads::nothing) return;
        const auto sum =
            sum_over<ProbeCounts>(block, begin[s], begin[s + 1], [&](index_t t) { return each.partial[t]; });
        block.once([&] { totals[s] = sum; });
      });
}

bool CountAbove::any_asked() const {
  for (std::size_t s = 0; s < m_limits.size(); ++s)
    if (counting().asked(static_cast<index_t>(s))) return true;
  return false;
}

index_t CountAbove::bytes() const {
  return static_cast<index_t>(m_limits.size() * sizeof(ProbeLimits) +
                              (m_partial.size() + m_totals.size()) * sizeof(ProbeCounts));
}

}  // namespace gradcomp::kernels
