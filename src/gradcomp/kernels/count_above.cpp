#include "gradcomp/kernels/count_above.hpp"

#include <algorithm>
#include <limits>

#include "gradcomp/core/read_back.hpp"
#include "gradcomp/kernels/source_rows.hpp"

namespace gradcomp::kernels {
namespace {

using Limits = detail::ProbeLimits;
using Partial = detail::PerProbe<std::int32_t>;
using Sums = detail::PerProbe<index_t>;

/// No magnitude lies above it.
constexpr std::int32_t beyond_all = std::numeric_limits<std::int32_t>::max();

/// The first limit says whether a segment is read: asked ones come first.
KOKKOS_FORCEINLINE_FUNCTION bool asked(const Limits& limits) { return limits.at[0] != beyond_all; }

void count_tiles(const Exec& exec, const Tiles& tiles, const float* a, const Runs& runs, const Vector<Limits>& limits,
                 const Vector<Partial>& partial) {
  const auto tile = tiles.tile;
  for_warps(
      "gradcomp::kernels::count_above", exec, tiles.count(), KOKKOS_LAMBDA(const Warp& warp, index_t t) {
        const Tile here = tile(t);
        const Limits limit = limits(here.segment);
        if (!asked(limit)) return;
        Lanes<std::int32_t> above[most_probes];
        for (int p = 0; p < most_probes; ++p) warp.each([&](int l) { above[p][l] = 0; });
        const Run run = limit.listed != 0 ? runs(t) : Run{a + here.first, nullptr, here.count};
        const float* const values = run.values;
        each_element<2>(warp, run.count, [&](int l, index_t e) {
          const std::int32_t bits = magnitude(values[e]);
          for (int p = 0; p < most_probes; ++p) above[p][l] += bits > limit.at[p] ? 1 : 0;
        });
        Partial counts;
        for (int p = 0; p < most_probes; ++p) counts.at[p] = warp.sum(above[p]);
        warp.once([&] { partial(t) = counts; });
      });
}

void combine_tiles(const Exec& exec, const Tiles& tiles, const Vector<Limits>& limits, const Vector<Partial>& partial,
                   const Vector<Sums>& sums) {
  const auto begin = tiles.begin;
  for_warps(
      "gradcomp::kernels::combine_counts", exec, tiles.segments(), KOKKOS_LAMBDA(const Warp& warp, index_t s) {
        Sums total;
        for (int p = 0; p < most_probes; ++p) {
          Lanes<index_t> count;
          warp.each([&](int l) {
            count[l] = 0;
            if (!asked(limits(s))) return;
            for (index_t t = begin(s) + l; t < begin(s + 1); t += warp_lanes) count[l] += partial(t).at[p];
          });
          total.at[p] = warp.sum(count);
        }
        warp.once([&] { sums(s) = total; });
      });
}

}  // namespace

CountAbove::CountAbove(const Tiles& tiles)
    : m_limits("gradcomp::kernels::count_limits", static_cast<std::size_t>(tiles.segments())),
      m_partial(Kokkos::view_alloc(Kokkos::WithoutInitializing, "gradcomp::kernels::count_partial"),
                static_cast<std::size_t>(tiles.count())),
      m_sums("gradcomp::kernels::count_sums", static_cast<std::size_t>(tiles.segments())),
      m_host_limits(m_limits.size()),
      m_host_sums(m_limits.size()),
      m_counts(m_limits.size()) {}

const std::vector<Counts>& CountAbove::run(const Exec& exec, const Tiles& tiles, const float* a,
                                           const std::vector<Probes>& probes, const Shortlist* shortlist) {
  bool any = false;
  for (std::size_t s = 0; s < probes.size(); ++s) {
    int used = 0;
    for (auto& limit : m_host_limits[s].at) limit = beyond_all;
    for (const std::int32_t probe : probes[s])
      if (probe >= 0) m_host_limits[s].at[used++] = probe;
    const std::int32_t low = shortlist == nullptr ? -1 : shortlist->low[s];
    const bool listed = low >= 0 && std::all_of(probes[s].begin(), probes[s].end(),
                                                [&](std::int32_t probe) { return probe < 0 || probe >= low; });
    m_host_limits[s].listed = listed ? 1 : 0;
    any = any || used > 0;
    m_counts[s].fill(0);
  }
  if (!any) return m_counts;
  Kokkos::deep_copy(exec, m_limits, HostSpan<Limits>(m_host_limits.data(), m_host_limits.size()));
  count_tiles(exec, tiles, a, shortlist == nullptr ? Runs{} : shortlist->runs, m_limits, m_partial);
  combine_tiles(exec, tiles, m_limits, m_partial, m_sums);
  read_back(exec, Span<const Sums>(m_sums), m_host_sums.data(), "gradcomp::kernels::CountAbove::run");
  for (std::size_t s = 0; s < probes.size(); ++s) {
    int used = 0;
    for (std::size_t p = 0; p < most_probes; ++p)
      if (probes[s][p] >= 0) m_counts[s][p] = m_host_sums[s].at[used++];
  }
  return m_counts;
}

index_t CountAbove::bytes() const {
  return static_cast<index_t>(m_limits.size() * (sizeof(Limits) + sizeof(Sums)) + m_partial.size() * sizeof(Partial));
}

}  // namespace gradcomp::kernels
