#include "gradcomp/kernels/select/radix.hpp"

#include <algorithm>
#include <vector>

#include "gradcomp/core/copies.hpp"
#include "gradcomp/core/shared.hpp"
#include "gradcomp/kernels/lanes/teams.hpp"
#include "gradcomp/kernels/select/candidate_rows.hpp"

namespace gradcomp::kernels {
namespace {

using detail::TileGroup;

constexpr std::uint32_t bins = 2048;

/// Devices get many groups. A host gets a few per thread, because it costs as much to empty and add up 2048 bins as to
/// count thousands of candidates.
index_t tiles_per_group(index_t tiles) {
  if (lanes_are_threads) return 32;
  const index_t groups = 4 * static_cast<index_t>(Exec().concurrency());
  return std::max<index_t>(32, (tiles + groups - 1) / groups);
}

/// The number of bit patterns in (low, high].
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t width(const SegmentSearch& search) {
  return static_cast<std::uint32_t>(search.high) - static_cast<std::uint32_t>(search.low);
}

/// Each bin holds 2^shift patterns; this is the smallest shift with which the interval fits.
KOKKOS_FORCEINLINE_FUNCTION int bin_shift(const SegmentSearch& search) {
  int shift = 0;
  while (((width(search) - 1) >> shift) >= bins) ++shift;
  return shift;
}

KOKKOS_FORCEINLINE_FUNCTION index_t wanted(const SegmentSearch& search, Radix::Target target) {
  if (target == Radix::Target::sample) return search.sample_rank;
  return search.open != 0 || (search.inside > 0 && search.inside <= search.enough) ? 0 : search.rank;
}

/// Whether a pass would change the search.
KOKKOS_FORCEINLINE_FUNCTION bool is_wide(const SegmentSearch& search, Radix::Target target) {
  return wanted(search, target) != 0 && width(search) > 1;
}

/// Adds the values of each segment to its histogram. A group first counts in team scratch (shared memory, or the cache
/// of a host's one-thread team), because atomics on the result cost a host 5 ns each. One thread needs none.
void histogram(const Exec& exec, const Vector<TileGroup>& groups, const Runs& runs,
               const Vector<SegmentSearch>& searches, Radix::Target target, const Vector<std::uint32_t>& result) {
  using Scratch = TeamArray<std::uint32_t*>;
  const bool alone = !lanes_are_threads && exec.concurrency() == 1;  // no team at work beside this one
  for_teams<lanes_are_threads ? 256 : 1>(
      "gradcomp::kernels::radix_histogram", exec, static_cast<index_t>(groups.size()), Scratch::shmem_size(bins),
      KOKKOS_LAMBDA(const Team& team) {
        const TileGroup group = groups(team.league_rank());
        const SegmentSearch search = searches(group.segment);
        if (!is_wide(search, target)) return;
        const Scratch counts(team.team_scratch(0), bins);
        for_each_of_team(team, bins, [&](int b) { counts(b) = 0; });
        team.team_barrier();
        const int shift = bin_shift(search);
        constexpr int width = lanes_are_threads ? warp_lanes : 1;  // of a device's team, each warp takes a tile
        for (index_t t = group.begin + team.team_rank() / width; t < group.end; t += team.team_size() / width) {
          const Run run = runs(t);
          prefetch_run(runs, t, group.end - 1);
          for (std::int32_t i = team.team_rank() % width; i < run.count; i += width) {
            const std::int32_t bits = magnitude(run.values[i]);
            if (bits > search.low && bits <= search.high)
              device::count(&counts(static_cast<std::uint32_t>(bits - search.low - 1) >> shift));
          }
        }
        team.team_barrier();
        std::uint32_t* const sums = result.data() + group.segment * bins;
        for_each_of_team(team, bins, [&](int b) {
          if (alone) {
            sums[b] += counts(b);
          } else if (counts(b) != 0) {
            Kokkos::atomic_add(&sums[b], counts(b));
          }
        });
      });
}

/// Narrows each search to the bin with the wanted rank, with one warp per segment. Leaves the histogram zero.
void keep_bin(const Exec& exec, const Vector<SegmentSearch>& searches, Radix::Target target,
              const Vector<std::uint32_t>& counts) {
  constexpr int per_lane = bins / warp_lanes;
  for_warps(
      "gradcomp::kernels::radix_keep_bin", exec, static_cast<index_t>(searches.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t s) {
        SegmentSearch search = searches(s);
        if (!is_wide(search, target)) return;
        const index_t rank = wanted(search, target);
        std::uint32_t* const mine = counts.data() + s * bins;
        Lanes<index_t> sums;
        warp.each([&](int l) {
          sums[l] = 0;
          for (int b = 0; b < per_lane; ++b) sums[l] += mine[l * per_lane + b];
        });
        int lane = warp_lanes - 1;
        for (; lane > 0; --lane) {
          const index_t sum = warp.broadcast(sums, lane);
          if (search.above + sum >= rank) break;
          search.above += sum;
        }
        int bin = lane * per_lane + per_lane - 1;
        for (; bin > lane * per_lane; --bin) {
          if (search.above + mine[bin] >= rank) break;
          search.above += mine[bin];
        }
        if (target == Radix::Target::exact) search.inside = mine[bin];
        const int shift = bin_shift(search);
        const std::int64_t low = search.low;
        search.high = static_cast<std::int32_t>(
            Kokkos::min<std::int64_t>(search.high, low + (static_cast<std::int64_t>(bin + 1) << shift)));
        search.low = static_cast<std::int32_t>(low + (static_cast<std::int64_t>(bin) << shift));
        warp.once([&] { searches(s) = search; });
        warp.sync();  // all lanes have read the bins
        warp.each([&](int l) {
          for (int b = 0; b < per_lane; ++b) mine[l * per_lane + b] = 0;
        });
      });
}

std::vector<TileGroup> make_groups(const Tiles& tiles) {
  std::vector<TileGroup> groups;
  const index_t max_tiles = tiles_per_group(tiles.count());
  index_t first = 0;
  for (std::size_t s = 0; s < tiles.elements.size(); ++s) {
    const index_t end = first + (tiles.elements[s] + tile_size - 1) / tile_size;
    for (; first < end; first = groups.back().end)
      groups.push_back({first, std::min(end, first + max_tiles), static_cast<std::int32_t>(s)});
  }
  return groups;
}

}  // namespace

Radix::Radix(const Tiles& tiles)
    : m_groups(upload("gradcomp::kernels::radix_groups", make_groups(tiles))),
      m_histogram("gradcomp::kernels::radix_histogram", static_cast<std::size_t>(tiles.segments() * bins)) {}

void Radix::narrow(const Exec& exec, const Runs& runs, const Vector<SegmentSearch>& searches, Target target, int passes,
                   bool host_looks) {
  const auto needed = [&] {
    if (!host_looks) return true;
    const auto seen = seen_by_host(searches);
    return std::any_of(seen.data(), seen.data() + seen.size(),
                       [&](const SegmentSearch& search) { return is_wide(search, target); });
  };
  for (int pass = 0; pass < passes && m_groups.size() > 0 && needed(); ++pass) {
    histogram(exec, m_groups, runs, searches, target, m_histogram);
    keep_bin(exec, searches, target, m_histogram);
  }
}

index_t Radix::bytes() const {
  return static_cast<index_t>(m_groups.size() * sizeof(TileGroup) + m_histogram.size() * sizeof(std::uint32_t));
}

}  // namespace gradcomp::kernels
