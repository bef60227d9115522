#include "gradcomp/kernels/select/radix.hpp"

#include <algorithm>

#include "gradcomp/core/shared.hpp"
#include "gradcomp/kernels/lanes/tile_groups.hpp"
#include "gradcomp/kernels/select/candidate_rows.hpp"

namespace gradcomp::kernels {
namespace {

constexpr std::uint32_t bins = 2048;

/// Devices get many groups, of at least one tile for each warp. A host gets a few per thread, because it costs as much
/// to empty and add up 2048 bins as to count thousands of candidates.
index_t tiles_per_group(index_t tiles) {
  if (lanes_are_threads) return std::clamp<index_t>(tiles / 256, DeviceBlock::warps, 32);
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

/// Narrows the search to the bin with the wanted rank. Leaves the bins zero.
KOKKOS_FORCEINLINE_FUNCTION void keep_bin(const Block& block, std::uint32_t* counts, Radix::Target target,
                                          SegmentSearch& to) {
  const SegmentSearch search = to;
  const index_t rank = wanted(search, target);
  constexpr int own = static_cast<int>(bins) / Block::threads;    // of each thread, the first one's at the top
  const int top = static_cast<int>(bins) - own * block.thread();  // behind the last one
  const auto sum_below = [&](int end, int count) {
    std::uint32_t sum = 0;
    for (int b = 0; b < count; ++b) sum += counts[end - count + b];
    return index_t{sum};
  };
  const index_t mine = sum_below(top, own);
  index_t before = mine;
  block.exclusive_sum(before);
  before += search.above;
  if (before < rank && before + mine >= rank) {
    constexpr int stride = own < 64 ? own : 64;
    int end = top;
    for (; before + sum_below(end, stride) < rank; end -= stride) before += sum_below(end, stride);
    int bin = end - 1;
    for (; before + counts[bin] < rank; --bin) before += counts[bin];
    const int shift = bin_shift(search);
    const std::int64_t low = search.low;
    to.above = before;
    if (target == Radix::Target::exact) to.inside = counts[bin];
    to.high = static_cast<std::int32_t>(
        Kokkos::min<std::int64_t>(search.high, low + (static_cast<std::int64_t>(bin + 1) << shift)));
    to.low = static_cast<std::int32_t>(low + (static_cast<std::int64_t>(bin) << shift));
  }
  block.barrier();
  block.each(bins, [&](index_t b) { counts[b] = 0; });
}

/// Adds the values of each segment to its histogram, and narrows the searches. A group first counts in the scratch of
/// its team (shared memory, or the cache of a host's one-thread team), because atomics on the result cost a host 5 ns
/// each. One thread needs none.
void narrow_once(const Exec& exec, const Tiles& tiles, const TileGroups& groups, const Runs& runs,
                 const Vector<SegmentSearch>& searches, Radix::Target target, const Vector<std::uint32_t>& result) {
  using Scratch = TeamArray<std::uint32_t*>;
  const bool alone = !lanes_are_threads && exec.concurrency() == 1;  // no team at work beside this one
  for_groups_then(
      "gradcomp::kernels::radix_histogram", exec, tiles, groups, Scratch::shmem_size(bins),
      KOKKOS_LAMBDA(const Block& block, const TileGroup& group) {
        const SegmentSearch search = searches(group.segment);
        if (!is_wide(search, target)) return;
        const Scratch counts(block.team->team_scratch(0), bins);
        block.each(bins, [&](index_t b) { counts(b) = 0; });
        block.barrier();
        const int shift = bin_shift(search);
        constexpr int width = lanes_are_threads ? warp_lanes : 1;  // of a device's team, each warp takes a tile
        for (index_t t = group.begin + block.thread() / width; t < group.end; t += Block::warps) {
          const Run run = runs(t);
          prefetch_run(runs, t, group.end - 1);
          const auto load = [&](index_t i) { return magnitude(run.values[i]); };
          const auto count = [&](std::int32_t bits) {
            if (bits > search.low && bits <= search.high)
              device::count(&counts(static_cast<std::uint32_t>(bits - search.low - 1) >> shift));
          };
          each_of_lane<8>(block.thread() % width, 0, run.count, load, count, width);
        }
        block.barrier();
        std::uint32_t* const sums = result.data() + group.segment * bins;
        block.each(bins, [&](index_t b) {
          if (alone) {
            sums[b] += counts(b);
          } else if (counts(b) != 0) {
            Kokkos::atomic_add(&sums[b], counts(b));
          }
        });
      },
      KOKKOS_LAMBDA(const Block& block, index_t s) {
        if (is_wide(searches(s), target)) keep_bin(block, result.data() + s * bins, target, searches(s));
      });
}

}  // namespace

Radix::Radix(const Tiles& tiles)
    : m_groups(tiles.elements, tiles_per_group(tiles.count())),
      m_histogram("gradcomp::kernels::radix_histogram", static_cast<std::size_t>(tiles.segments() * bins)) {}

void Radix::narrow(const Exec& exec, const Tiles& tiles, const Runs& runs, const Vector<SegmentSearch>& searches,
                   Target target, int passes, bool host_looks) {
  const auto needed = [&] {
    if (!host_looks) return true;
    const auto seen = seen_by_host(searches);
    return std::any_of(seen.data(), seen.data() + seen.size(),
                       [&](const SegmentSearch& search) { return is_wide(search, target); });
  };
  for (int pass = 0; pass < passes && tiles.count() > 0 && needed(); ++pass)
    narrow_once(exec, tiles, m_groups, runs, searches, target, m_histogram);
}

index_t Radix::bytes() const {
  return m_groups.bytes() + static_cast<index_t>(m_histogram.size() * sizeof(std::uint32_t));
}

}  // namespace gradcomp::kernels
