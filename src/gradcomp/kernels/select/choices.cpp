#include "gradcomp/kernels/select/choices.hpp"

#include "gradcomp/kernels/lanes/lanes.hpp"

namespace gradcomp::kernels::detail {

void start_choices(const Exec& exec, const Choices& all, bool host_looks) {
  for_few(
      "gradcomp::kernels::start_choices", exec, all.segments, host_looks, KOKKOS_LAMBDA(const index_t s) {
        const Chooser segment = all.at(s);
        Goal goal = segment.first_goal();
        all.progress[s] = {0, segment.use_list(goal) ? 1 : 0};
        all.goal[s] = goal;
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
            Goal goal = all.goal[s];
            Progress progress = all.progress[s];
            const std::uint32_t wanted = phases_of(goal);
            if ((wanted & ~launched & ~ranking) == 0) {
              segment.repair(goal, progress.listed, all.total[s], progress.above);
            } else {
              again[l] = 1;
            }
            if (goal.open != 0 || (goal.rank > 0 && (launched & ranking) == 0)) again[l] = 1;
            if (goal.rank > 0 && goal.open == 0 && !segment.settled(goal)) {
              goal.high = segment.moments.max_bits;
              goal.above = 0;
            }
            const index_t most = segment.request.cut > 0 ? segment.request.cut : segment.elements;
            before[l] = kept[l] = goal.rank > 0 ? goal.rank : Kokkos::min(all.total[s], most);
            all.goal[s] = goal;
            all.progress[s] = progress;
            all.chosen[s] = {kept[l], progress.above};
            needed[l] |= wanted | phases_of(goal);
            non_finite[l] += segment.moments.non_finite;
          });
          const index_t here = warp.exclusive_sum(before);
          warp.each([&](int l) {
            if (row + l >= all.segments) return;
            all.goal[row + l].out = out + before[l];
            all.goal[row + l].end = out + before[l] + kept[l];
          });
          out += here;
        }
        Outcome result{out, warp.sum(non_finite), 0, warp.max(again)};
        for (std::uint32_t phase = 1; phase < all_phases; phase *= 2)
          result.needed |= warp.ballot([&](int l) { return (needed[l] & phase) != 0; }) != 0 ? phase : 0;
        warp.once([&] { all.outcome[0] = result; });
      });
}

void remember_choices(const Exec& exec, const Choices& all, double spare, double room, bool host_looks) {
  for_few(
      "gradcomp::kernels::remember_choices", exec, all.segments, host_looks, KOKKOS_LAMBDA(const index_t s) {
        const Goal goal = all.goal[s];
        const bool tried = all.expecting && all.low[s] != no_bound;
        const double kept = static_cast<double>(goal.end - goal.out);
        std::int32_t low = no_bound;
        if (kept > 0 && goal.high > 0 && 2 * kept <= room * static_cast<double>(all.elements[s])) {
          all.margin[s] = next_margin(all.margin[s], tried, all.progress[s].listed == 0, kept,
                                      static_cast<double>(all.moments[s].candidates), spare);
          low = Kokkos::max(0, goal.high - all.margin[s]);
        }
        all.low[s] = low;
      });
}

}  // namespace gradcomp::kernels::detail
