#include "gradcomp/kernels/select/choices.hpp"

#include "gradcomp/kernels/lanes/lanes.hpp"

namespace gradcomp::kernels::detail {

void start_choices(const Exec& exec, const Choices& all, bool host_looks) {
  for_few(
      "gradcomp::kernels::start_choices", exec, all.segments, host_looks, KOKKOS_LAMBDA(const index_t s) {
        const Chooser segment = all.at(s);
        SegmentSearch search = segment.first_search();
        all.progress[s] = {0, segment.use_list(search) ? 1 : 0};
        all.search[s] = search;
      });
}

void settle_choices(const Exec& exec, const Choices& all, std::uint32_t launched, bool host_looks) {
  for_one_warp(
      "gradcomp::kernels::settle_choices", exec, host_looks, KOKKOS_LAMBDA(const Warp& warp, index_t) {
        Lanes<index_t> non_finite;
        Lanes<std::int32_t> again;
        Lanes<std::uint32_t> needed;
        warp.each([&](int l) { non_finite[l] = again[l] = 0, needed[l] = 0; });
        index_t out = 0;
        for (index_t row = 0; row < all.segments; row += warp_lanes) {
          Lanes<index_t> before, kept;
          warp.each([&](int l) {
            const index_t s = row + l;
            before[l] = kept[l] = 0;
            if (s >= all.segments) return;
            const Chooser segment = all.at(s);
            SegmentSearch search = all.search[s];
            Progress progress = all.progress[s];
            const std::uint32_t wanted = phases_of(search);
            if ((wanted & ~launched & ~ranking) == 0) {
              segment.repair(search, progress.listed, all.total[s], progress.above);
            } else {
              again[l] = 1;
            }
            if (search.open != 0 || (search.rank > 0 && (launched & ranking) == 0)) again[l] = 1;
            if (search.rank > 0 && search.open == 0 && !segment.settled(search)) {
              search.high = segment.moments.max_bits;
              search.above = search.inside = 0;
              search.enough = segment.room;
            }
            const index_t max_entries = segment.selection.cut > 0 ? segment.selection.cut : segment.elements;
            before[l] = kept[l] = search.rank > 0 ? search.rank : Kokkos::min(all.total[s], max_entries);
            all.search[s] = search;
            all.progress[s] = progress;
            all.chosen[s] = {kept[l], progress.above};
            needed[l] |= wanted | phases_of(search);
            non_finite[l] += segment.moments.non_finite;
          });
          const index_t here = warp.exclusive_sum(before);
          warp.each([&](int l) {
            if (row + l >= all.segments) return;
            all.search[row + l].out = out + before[l];
            all.search[row + l].end = out + before[l] + kept[l];
          });
          out += here;
        }
        Outcome result{out, warp.sum(non_finite), 0, warp.max(again)};
        for (std::uint32_t phase = 1; phase < all_phases; phase *= 2)
          result.needed |= warp.ballot([&](int l) { return (needed[l] & phase) != 0; }) != 0 ? phase : 0;
        warp.once([&] { all.outcome[0] = result; });
      });
}

void remember_choices(const Exec& exec, const Choices& all, double spare, bool host_looks) {
  for_few(
      "gradcomp::kernels::remember_choices", exec, all.segments, host_looks, KOKKOS_LAMBDA(const index_t s) {
        const SegmentSearch search = all.search[s];
        const bool tried = all.expecting && all.low[s] != no_bound;
        const double kept = static_cast<double>(search.end - search.out);
        std::int32_t low = no_bound;
        const double room = static_cast<double>(all.slots) / tile_size * static_cast<double>(all.elements[s]);
        if (kept > 0 && search.high > 0 && 2 * kept <= room) {
          const auto candidates = static_cast<double>(all.moments[s].candidates);
          all.margin[s] = next_margin(all.margin[s], tried, kept, candidates, spare);
          low = Kokkos::max(0, search.high - all.margin[s]);
        }
        all.low[s] = low;
      });
}

}  // namespace gradcomp::kernels::detail
