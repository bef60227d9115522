#include "gradcomp/kernels/select/candidates.hpp"

#include <algorithm>
#include <cmath>

#include "gradcomp/kernels/lanes/arrays.hpp"
#include "gradcomp/kernels/lanes/tile_groups.hpp"
#include "gradcomp/kernels/select/candidate_rows.hpp"

namespace gradcomp::kernels {

using detail::Places;

namespace {

template <class T>
Vector<T> scratch(const std::string& label, index_t count) {
  return Vector<T>(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), static_cast<std::size_t>(count));
}

/// A mask of the elements row, row + 1, ... of the run whose magnitude is above `low`. Behind a run of candidates there
/// is a row of room, which a host reads and drops.
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t above_in_row(const Warp& warp, const Run& run, std::int32_t row,
                                                       std::int32_t low) {
  const std::int32_t active = run.count - row;
  const float* const x = run.values + row;
  if (active >= warp_lanes) return above_mask(warp, x, low);
  if (!lanes_are_threads && run.offsets != nullptr) return above_mask(warp, x, low) & ((1u << active) - 1u);
  return warp.ballot([&](int l) { return l < active && magnitude(x[l]) > low; });
}

/// A mask of the lanes of the row that the search takes. `quota` is the number of ties that may still be taken; it
/// shrinks by those that are taken here.
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t taken(const Warp& warp, const Run& run, std::int32_t row, std::int32_t high,
                                                std::int32_t& quota) {
  std::uint32_t mask = above_in_row(warp, run, row, high);
  if (quota > 0) {
    std::uint32_t ties = above_in_row(warp, run, row, high - 1) & ~mask;
    for (; ties != 0 && quota > 0; --quota) {
      const std::uint32_t lowest = ties & (~ties + 1u);
      mask |= lowest;
      ties ^= lowest;
    }
  }
  return mask;
}

/// Finds where the entries of each tile of segment s go: behind those of the tiles before.
KOKKOS_FORCEINLINE_FUNCTION void find_places(const Block& block, const Places& places, index_t s,
                                             const SegmentSearch& search) {
  const index_t ties = Kokkos::max<index_t>(search.rank - search.above, 0);
  constexpr int each = lanes_are_threads ? 4 : 1;  // neighbours, one thread's part of a step
  constexpr index_t step = each * Block::threads;
  const index_t end = places.begin[s + 1];
  index_t more_before = 0, same_before = 0;
  for (index_t first = places.begin[s]; first < end; first += step) {
    const index_t mine = first + each * block.thread();
    std::int32_t more_of[each], same_of[each];
    index_t more = 0, same = 0;
    GRADCOMP_UNROLL
    for (int r = 0; r < each; ++r) {
      more_of[r] = mine + r < end ? places.above[mine + r] : 0;
      same_of[r] = mine + r < end ? places.equal[mine + r] : 0;
    }
    GRADCOMP_UNROLL
    for (int r = 0; r < each; ++r) {
      more += more_of[r];
      same += same_of[r];
    }
    const index_t more_here = block.exclusive_sum(more), same_here = block.exclusive_sum(same);
    GRADCOMP_UNROLL
    for (int r = 0; r < each; ++r) {
      const index_t used = Kokkos::min(same_before + same, ties);
      if (mine + r < end) {
        places.start[mine + r] = more_before + more + used;
        places.quota[mine + r] = static_cast<std::int32_t>(Kokkos::min<index_t>(ties - used, same_of[r]));
      }
      more += more_of[r];
      same += same_of[r];
    }
    more_before += more_here;
    same_before += same_here;
  }
  block.once([&] { places.totals[s] = more_before + Kokkos::min(same_before, ties); });
}

/// The values of each segment in which the wanted rank lies.
struct Ranking {
  std::int32_t *list, *tile;  ///< [tiles][room] magnitudes of a segment, together, and their tiles
  std::int32_t* listed;       ///< [segments]
  std::int32_t room;
};

/// Makes the magnitude with the wanted rank search.high, and counts for each tile which listed values are above it, and
/// equal to it.
KOKKOS_FORCEINLINE_FUNCTION void rank_list(const Block& block, const Ranking& ranking, const Places& places, index_t s,
                                           SegmentSearch& search) {
  const std::int32_t* const bits = ranking.list + places.begin[s] * ranking.room;
  const std::int32_t* const tile = ranking.tile + places.begin[s] * ranking.room;
  const index_t listed = ranking.listed[s];
  const auto count_from = [&](std::int32_t bound) {
    return block.sum<index_t>(Block::warps, [&](const Warp& warp, int w) {
      const index_t begin = listed * w / Block::warps, end = listed * (w + 1) / Block::warps;
      Lanes<std::int32_t> count;
      warp.each([&](int l) { count[l] = 0; });
      each_element(warp, end - begin, [&](int l, index_t e) { count[l] += bits[begin + e] >= bound ? 1 : 0; });
      return index_t{warp.sum(count)};
    });
  };
  const index_t wanted = search.rank - search.above;
  std::int32_t low = search.low + 1, high = search.high;  // count_from(low) >= wanted > count_from(high + 1)
  while (low < high) {
    const std::int32_t middle = low + (high - low + 1) / 2;
    if (count_from(middle) >= wanted)
      low = middle;
    else
      high = middle - 1;
  }
  search.low = high - 1;
  search.above += high < search.high ? count_from(high + 1) : 0;
  search.high = high;
  block.each_warp([&](const Warp& warp, int w) {
    for (index_t row = index_t{w} * warp_lanes; row < listed; row += Block::warps * warp_lanes) {
      const std::uint32_t mask = warp.ballot([&](int l) { return row + l < listed && bits[row + l] >= high; });
      warp.for_set(mask, [&](int l, int) {
        const index_t e = row + l;
        device::count(bits[e] > high ? &places.above[tile[e]] : &places.equal[tile[e]]);
      });
    }
  });
  block.barrier();
}

}  // namespace

Candidates::Candidates(const Tiles& tiles, double density)
    : m_slots(
          static_cast<std::int32_t>(std::min(static_cast<double>(tile_size), std::ceil(3 * density * tile_size) + 64))),
      m_stride(m_slots + 2 * warp_lanes),  // a row with its padding may be written behind the last slot
      m_values(scratch<float>("gradcomp::kernels::candidate_values", tiles.count() * m_stride)),
      m_offsets(scratch<std::uint16_t>("gradcomp::kernels::candidate_offsets", tiles.count() * m_stride)),
      m_staged(zeroed<std::int32_t>("gradcomp::kernels::candidates_staged", tiles.count())),
      m_above(scratch<std::int32_t>("gradcomp::kernels::candidates_above", tiles.count())),
      m_equal(scratch<std::int32_t>("gradcomp::kernels::candidates_equal", tiles.count())),
      m_quota(scratch<std::int32_t>("gradcomp::kernels::candidates_quota", tiles.count())),
      m_start(scratch<index_t>("gradcomp::kernels::candidates_start", tiles.count())),
      m_list(scratch<std::int32_t>("gradcomp::kernels::candidate_list", tiles.count() * list_room(m_slots))),
      m_list_tile(scratch<std::int32_t>("gradcomp::kernels::candidate_list_tile", tiles.count() * list_room(m_slots))),
      m_listed(zeroed<std::int32_t>("gradcomp::kernels::candidates_listed", tiles.segments())) {}

Runs Candidates::runs(const Tiles& tiles) const {
  return {tiles.tile.data(), m_values.data(), m_offsets.data(), m_staged.data(), m_a, m_slots, m_stride};
}

Places Candidates::places(const Tiles& tiles, const Vector<index_t>& totals) const {
  return {tiles.begin.data(), m_above.data(), m_equal.data(), m_quota.data(), m_start.data(), totals.data()};
}

void Candidates::stage(const Exec& exec, const Tiles& tiles, const float* a, const Vector<SegmentSearch>& searches) {
  m_a = a;
  const auto tile = tiles.tile;
  const auto values = m_values;
  const auto offsets = m_offsets;
  const auto staged = m_staged, above = m_above, equal = m_equal;
  const std::int32_t slots = m_slots, stride = m_stride;
  for_warps(
      "gradcomp::kernels::stage_candidates", exec, tiles.count(), KOKKOS_LAMBDA(const Warp& warp, index_t t) {
        const Tile here = tile(t);
        const std::int32_t low = searches(here.segment).low;
        if (searches(here.segment).open == 0) return;
        TileSlots mine{values.data() + t * stride, offsets.data() + t * stride, slots, low};
        mine.collect(warp, a + here.first, 0, here.count);
        warp.once([&] {
          staged(t) = mine.found;
          above(t) = mine.found;
          equal(t) = 0;
        });
      });
}

Collector Candidates::collector(const float* a, const Vector<std::int32_t>& low) {
  m_a = a;
  return {low.data(),     m_values.data(), m_offsets.data(), m_staged.data(),
          m_above.data(), m_equal.data(),  m_slots,          m_stride};
}

void Candidates::recount(const Exec& exec, const Tiles& tiles, const Vector<SegmentSearch>& searches,
                         const Vector<index_t>& totals) {
  const Places places = this->places(tiles, totals);
  const auto tile = tiles.tile;
  const auto above = m_above, equal = m_equal;
  const Runs all = runs(tiles);
  const index_t last = tiles.count() - 1;
  for_tiles_then(
      "gradcomp::kernels::recount_candidates", exec, tiles,
      KOKKOS_LAMBDA(const Warp& warp, index_t t) {
        const SegmentSearch search = searches(tile(t).segment);
        if (search.open != 0 || search.rank != 0 || search.low >= search.high) return;
        const Run run = all(t);
        prefetch_run(all, t, last);
        std::int32_t more = 0;
        for (std::int32_t row = 0; row < run.count; row += warp_lanes)
          more += Kokkos::popcount(above_in_row(warp, run, row, search.high));
        warp.once([&] {
          above(t) = more;
          equal(t) = 0;
        });
      },
      KOKKOS_LAMBDA(const Block& block, index_t s) { find_places(block, places, s, searches(s)); });
}

void Candidates::rank(const Exec& exec, const Tiles& tiles, const Vector<SegmentSearch>& searches,
                      const Vector<index_t>& totals) {
  const Places places = this->places(tiles, totals);
  const auto tile = tiles.tile;
  const Ranking ranking{m_list.data(), m_list_tile.data(), m_listed.data(), list_room(m_slots)};
  const Runs all = runs(tiles);
  const index_t last = tiles.count() - 1;
  for_tiles_then(
      "gradcomp::kernels::rank_candidates", exec, tiles,
      KOKKOS_LAMBDA(const Warp& warp, index_t t) {
        const std::int32_t s = tile(t).segment;
        const SegmentSearch search = searches(s);
        if (search.open != 0 || search.rank == 0) return;
        const Run run = all(t);
        prefetch_run(all, t, last);
        const bool exact = search.low + 1 == search.high;
        const index_t first = places.begin[s] * ranking.room;
        std::int32_t more = 0, same = 0;
        for (std::int32_t row = 0; row < run.count; row += warp_lanes) {
          const std::uint32_t higher = above_in_row(warp, run, row, search.high);
          const std::uint32_t inside = above_in_row(warp, run, row, search.low) & ~higher;
          const std::int32_t found = Kokkos::popcount(inside);
          more += Kokkos::popcount(higher);
          same += exact ? found : 0;
          if (exact || found == 0) continue;
          Lanes<std::int32_t> at;
          warp.each([&](int l) { at[l] = 0; });
          warp.once([&] { at[0] = Kokkos::atomic_fetch_add(&ranking.listed[s], found); });
          const index_t to = first + warp.broadcast(at, 0);
          warp.for_set(inside, [&](int l, int rank) {
            ranking.list[to + rank] = magnitude(run.values[row + l]);
            ranking.tile[to + rank] = static_cast<std::int32_t>(t);
          });
        }
        warp.once([&] {
          places.above[t] = more;
          places.equal[t] = same;
        });
      },
      KOKKOS_LAMBDA(const Block& block, index_t s) {
        SegmentSearch search = searches(s);
        if (search.open == 0 && search.rank > 0 && search.low + 1 < search.high) {
          rank_list(block, ranking, places, s, search);
          block.once([&] {
            searches(s) = search;
            ranking.listed[s] = 0;
          });
        }
        find_places(block, places, s, search);
      });
}

void Candidates::place(const Exec& exec, const Tiles& tiles, const Vector<SegmentSearch>& searches,
                       const Vector<index_t>& totals) {
  const Places places = this->places(tiles, totals);
  for_segments(
      "gradcomp::kernels::place_candidates", exec, tiles.segments(),
      KOKKOS_LAMBDA(const Block& block, index_t s) { find_places(block, places, s, searches(s)); });
}

void Candidates::emit(const Exec& exec, const Tiles& tiles, const Source& source, const Vector<SegmentSearch>& searches,
                      std::uint32_t* indices, float* values) {
  const auto tile = tiles.tile;
  const auto quotas = m_quota;
  const auto start = m_start;
  const Runs all = runs(tiles);
  const index_t last = tiles.count() - 1;
  for_warps(
      "gradcomp::kernels::emit_candidates", exec, tiles.count(), KOKKOS_LAMBDA(const Warp& warp, index_t t) {
        const Tile here = tile(t);
        const SegmentSearch search = searches(here.segment);
        const Run run = all(t);
        prefetch_run(all, t, last);
        prefetch_sent(source, all, t + 1, last);
        std::int32_t quota = quotas(t);
        index_t at = search.out + start(t);
        for (std::int32_t row = 0; row < run.count; row += warp_lanes) {
          const std::uint32_t mask = taken(warp, run, row, search.high, quota);
          warp.for_set(mask, [&](int l, int rank) {
            if (at + rank >= search.end) return;
            const index_t i = here.first + (run.offsets == nullptr ? row + l : run.offsets[row + l]);
            indices[at + rank] = static_cast<std::uint32_t>(i);
            const float x = run.values[row + l];
            values[at + rank] = x;
            source.sent(i, x, x);
          });
          at += Kokkos::popcount(mask);
        }
      });
}

index_t Candidates::bytes() const {
  return static_cast<index_t>(m_values.size() * 4 + m_offsets.size() * 2 + m_staged.size() * 16 + m_start.size() * 8 +
                              m_list.size() * 8);
}

}  // namespace gradcomp::kernels
