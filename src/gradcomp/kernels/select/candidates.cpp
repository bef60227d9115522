#include "gradcomp/kernels/select/candidates.hpp"

#include <algorithm>
#include <cmath>

#include "gradcomp/kernels/lanes/arrays.hpp"
#include "gradcomp/kernels/select/candidate_rows.hpp"

namespace gradcomp::kernels {
namespace {

template <class T>
Vector<T> scratch(const std::string& label, index_t count) {
  return Vector<T>(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), static_cast<std::size_t>(count));
}

/// A mask of the lanes of the row that the search takes. `quota` is the number of ties that may still be taken; it
/// shrinks by those that are taken here.
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t taken(const Warp& warp, const Lanes<float>& x, int active, std::int32_t high,
                                                std::int32_t& quota) {
  std::uint32_t mask = warp.ballot([&](int l) { return l < active && magnitude(x[l]) > high; });
  if (quota > 0) {
    std::uint32_t ties = warp.ballot([&](int l) { return l < active && magnitude(x[l]) == high; });
    for (; ties != 0 && quota > 0; --quota) {
      const std::uint32_t lowest = ties & (~ties + 1u);
      mask |= lowest;
      ties ^= lowest;
    }
  }
  return mask;
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
      m_start(scratch<index_t>("gradcomp::kernels::candidates_start", tiles.count())) {}

Runs Candidates::runs(const Tiles& tiles) const {
  return {tiles.tile.data(), m_values.data(), m_offsets.data(), m_staged.data(), m_a, m_slots, m_stride};
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

void Candidates::recount(const Exec& exec, const Tiles& tiles, const Vector<SegmentSearch>& searches, bool exact) {
  const auto tile = tiles.tile;
  const auto above = m_above, equal = m_equal;
  const Runs all = runs(tiles);
  const index_t last = tiles.count() - 1;
  for_warps(
      "gradcomp::kernels::recount_candidates", exec, tiles.count(), KOKKOS_LAMBDA(const Warp& warp, index_t t) {
        const SegmentSearch search = searches(tile(t).segment);
        if (search.open != 0 || (search.rank == 0 ? search.low >= search.high : !exact)) return;
        const Run run = all(t);
        prefetch_run(all, t, last);
        Lanes<std::int32_t> more, same;
        warp.each([&](int l) { more[l] = same[l] = 0; });
        const std::int32_t high = search.high;
        each_element<2>(warp, run.count, [&](int l, index_t e) {
          const std::int32_t bits = magnitude(run.values[e]);
          more[l] += bits > high ? 1 : 0;
          same[l] += bits == high ? 1 : 0;
        });
        const std::int32_t total_more = warp.sum(more), total_same = warp.sum(same);
        warp.once([&] {
          above(t) = total_more;
          equal(t) = total_same;
        });
      });
}

void Candidates::place(const Exec& exec, const Tiles& tiles, const Vector<SegmentSearch>& searches,
                       const Vector<index_t>& totals) {
  const auto begin = tiles.begin;
  const auto above = m_above, equal = m_equal, quota = m_quota;
  const auto start = m_start;
  for_warps(
      "gradcomp::kernels::place_candidates", exec, tiles.segments(), KOKKOS_LAMBDA(const Warp& warp, index_t s) {
        const SegmentSearch search = searches(s);
        const index_t ties = Kokkos::max<index_t>(search.rank - search.above, 0);
        constexpr int each = lanes_are_threads ? 8 : 1;  // neighbours, one lane's part of a step
        const index_t end = begin(s + 1);
        index_t more_before = 0, same_before = 0;
        for (index_t first = begin(s); first < end; first += each * warp_lanes) {
          Lanes<index_t> more, same;
          Lanes<std::int32_t> more_of[each], same_of[each];
          warp.each([&](int l) {
            more[l] = same[l] = 0;
            GRADCOMP_UNROLL
            for (int r = 0; r < each; ++r) {
              const index_t t = first + l * each + r;
              more_of[r][l] = t < end ? above(t) : 0;
              same_of[r][l] = t < end ? equal(t) : 0;
            }
            GRADCOMP_UNROLL
            for (int r = 0; r < each; ++r) {
              more[l] += more_of[r][l];
              same[l] += same_of[r][l];
            }
          });
          const index_t more_here = warp.exclusive_sum(more), same_here = warp.exclusive_sum(same);
          warp.each([&](int l) {
            GRADCOMP_UNROLL
            for (int r = 0; r < each; ++r) {
              const index_t t = first + l * each + r, used = Kokkos::min(same_before + same[l], ties);
              if (t < end) {
                start(t) = more_before + more[l] + used;
                quota(t) = static_cast<std::int32_t>(Kokkos::min<index_t>(ties - used, same_of[r][l]));
              }
              more[l] += more_of[r][l];
              same[l] += same_of[r][l];
            }
          });
          more_before += more_here;
          same_before += same_here;
        }
        warp.once([&] { totals(s) = more_before + Kokkos::min(same_before, ties); });
      });
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
        std::int32_t quota = quotas(t);
        index_t at = search.out + start(t);
        for (std::int32_t row = 0; row < run.count; row += warp_lanes) {
          const int active = run.count - row;
          Lanes<float> x;
          load_row(warp, run.values + row, active, x);
          const std::uint32_t mask = taken(warp, x, active, search.high, quota);
          warp.for_set(mask, [&](int l, int rank) {
            if (at + rank >= search.end) return;
            const index_t i = here.first + (run.offsets == nullptr ? row + l : run.offsets[row + l]);
            indices[at + rank] = static_cast<std::uint32_t>(i);
            values[at + rank] = x[l];
            source.sent(i, x[l], x[l]);
          });
          at += Kokkos::popcount(mask);
        }
      });
}

index_t Candidates::bytes() const {
  return static_cast<index_t>(m_values.size() * 4 + m_offsets.size() * 2 + m_staged.size() * 16 + m_start.size() * 8);
}

}  // namespace gradcomp::kernels
