#include "gradcomp/kernels/select/count_above.hpp"

#include "gradcomp/core/shared.hpp"
#include "gradcomp/kernels/lanes/source_rows.hpp"

namespace gradcomp::kernels {

using detail::ProbeCounts;
using detail::ProbeLimits;

CountAbove::CountAbove(const Tiles& tiles)
    : m_limits("gradcomp::kernels::count_limits", static_cast<std::size_t>(tiles.segments())),
      m_partial(Kokkos::view_alloc(Kokkos::WithoutInitializing, "gradcomp::kernels::count_partial"),
                static_cast<std::size_t>(tiles.count())),
      m_begin(tiles.begin) {}

void CountAbove::run(const Exec& exec, const Tiles& tiles, const float* a, const Runs& list, bool host_looks) const {
  bool any = !host_looks;
  for (index_t s = 0; s < tiles.segments() && !any; ++s) any = counting().asked(s);
  if (!any) return;
  const auto tile = tiles.tile;
  const auto limits = m_limits;
  const auto partial = m_partial;
  for_warps(
      "gradcomp::kernels::count_above", exec, tiles.count(), KOKKOS_LAMBDA(const Warp& warp, index_t t) {
        const Tile here = tile(t);
        const ProbeLimits limit = limits(here.segment);
        if (limit.at[0] == Counting::beyond_all) return;
        Lanes<std::int32_t> above[max_probes];
        for (int p = 0; p < max_probes; ++p) warp.each([&](int l) { above[p][l] = 0; });
        const Run run = limit.listed != 0 ? list(t) : Run{a + here.first, nullptr, here.count};
        const float* const values = run.values;
        for_parts(values, run.count, [&](index_t begin, index_t size) {
          each_element<2>(warp, size, [&](int l, index_t e) {
            const std::int32_t bits = magnitude(values[begin + e]);
            for (int p = 0; p < max_probes; ++p) above[p][l] += bits > limit.at[p] ? 1 : 0;
          });
        });
        ProbeCounts counts;
        for (int p = 0; p < max_probes; ++p) counts.at[p] = warp.sum(above[p]);
        warp.once([&] { partial(t) = counts; });
      });
}

index_t CountAbove::bytes() const {
  return static_cast<index_t>(m_limits.size() * sizeof(ProbeLimits) + m_partial.size() * sizeof(ProbeCounts));
}

void count_once(const Exec& exec, const CountAbove& above, const Tiles& tiles, const float* a, const Shortlist& list,
                const Vector<Probes>& probes, const Vector<Counts>& counts) {
  const Counting counting = above.counting();
  for_few(
      "gradcomp::kernels::ask_counts", exec, tiles.segments(), device_is_host,
      KOKKOS_LAMBDA(const index_t s) { counting.ask(s, probes(s), list.low(s)); });
  above.run(exec, tiles, a, list.runs, device_is_host);
  for_warps(
      "gradcomp::kernels::answer_counts", exec, tiles.segments(), KOKKOS_LAMBDA(const Warp& warp, index_t s) {
        Counts found = {};
        if (counting.asked(s)) found = counting.answer(warp, s, probes(s));
        warp.once([&] { counts(s) = found; });
      });
}

}  // namespace gradcomp::kernels
