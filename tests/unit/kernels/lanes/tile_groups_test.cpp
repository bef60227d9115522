// Passes over tiles that go on with each segment: once, behind all of its tiles.
#include "gradcomp/kernels/lanes/tile_groups.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "copies.hpp"

namespace gradcomp::kernels {
namespace tile_groups_test {

/// Segments without tiles, and with 1, 8, 9, 2, 300 and 7.
Layout layout_of_tiles() {
  Layout layout;
  int i = 0;
  for (const index_t tiles : {0, 1, 8, 9, 0, 2, 300, 7, 0})
    layout.add("segment" + std::to_string(i++), {tiles == 0 ? 0 : tiles * tile_size - 5});
  return layout;
}

/// What a tile writes.
KOKKOS_INLINE_FUNCTION index_t value_of(index_t t, index_t step) { return (t * 7 + 3 + step) % 11; }

/// Tiles write their values; a segment adds them, counts its calls, and finds the sum before each of its tiles.
void pass(const Tiles& tiles, index_t step, bool groups_of_five, const Vector<index_t>& value,
          const Vector<index_t>& sum, const Vector<index_t>& calls, const Vector<index_t>& before) {
  const auto begin = tiles.begin;
  const auto last = KOKKOS_LAMBDA(const Block& block, index_t s) {
    const index_t end = begin(s + 1),
                  total = sum_over<index_t>(block, begin(s), end, [&](index_t t) { return value(t); });
    index_t done = 0;
    for (index_t first = begin(s); first < end; first += Block::threads) {
      const index_t t = first + block.thread();
      index_t at = t < end ? value(t) : 0;
      const index_t here = block.exclusive_sum(at);
      if (t < end) before(t) = done + at;
      done += here;
    }
    block.once([&] {
      sum(s) = total == done ? total : -1;
      ++calls(s);
    });
  };
  if (groups_of_five) {
    const TileGroups groups(tiles.elements, 5);
    const auto each = KOKKOS_LAMBDA(const Block& block, const TileGroup& group) {
      block.each(group.end - group.begin, [&](index_t i) { value(group.begin + i) = value_of(group.begin + i, step); });
    };
    for_groups_then("gradcomp::test::groups", Exec(), tiles, groups, 0, each, last);
  } else {
    const auto each = KOKKOS_LAMBDA(const Warp& warp, index_t t) {
      warp.once([&] { value(t) = value_of(t, step); });
    };
    for_tiles_then("gradcomp::test::tiles", Exec(), tiles, each, last);
  }
  Exec().fence("gradcomp::test::pass");
}

void check(bool groups_of_five) {
  const Tiles tiles(layout_of_tiles());
  const auto segments = static_cast<std::size_t>(tiles.segments()), count = static_cast<std::size_t>(tiles.count());
  const Vector<index_t> value("value", count), before("before", count), sum("sum", segments), calls("calls", segments);
  const auto begin = test::to_host(tiles.begin);
  for (index_t step = 0; step < 3; ++step) {  // each launch leaves what the next one needs
    pass(tiles, step, groups_of_five, value, sum, calls, before);
    const auto sums = test::to_host(sum), places = test::to_host(before), times = test::to_host(calls);
    for (std::size_t s = 0; s < segments; ++s) {
      index_t total = 0;
      for (index_t t = begin[s]; t < begin[s + 1]; ++t) {
        EXPECT_EQ(places[static_cast<std::size_t>(t)], total) << "tile " << t;
        total += value_of(t, step);
      }
      EXPECT_EQ(sums[s], total) << "segment " << s;
      if (begin[s] < begin[s + 1]) {
        EXPECT_EQ(times[s], step + 1) << "segment " << s;
      }
    }
  }
}

TEST(TileGroups, ASegmentGoesOnBehindAllOfItsTiles) { check(false); }
TEST(TileGroups, ASegmentGoesOnBehindAllOfItsGroups) { check(true); }

TEST(TileGroups, AResizedSegmentHasFewerGroups) {
  Tiles tiles(Layout::flat(100 * tile_size));
  const auto n = static_cast<std::size_t>(tiles.count());
  const Vector<index_t> value("value", n), before("before", n), sum("sum", 1), calls("calls", 1);
  for (const index_t left : {index_t{tile_size * 9 + 1}, index_t{1}, index_t{0}, index_t{100 * tile_size}}) {
    tiles.resize(Exec(), left);
    pass(tiles, 0, false, value, sum, calls, before);
    index_t total = 0;
    for (index_t t = 0; t < tiles.count(); ++t) total += value_of(t, 0);
    EXPECT_EQ(test::to_host(sum)[0], total) << left;
  }
  EXPECT_EQ(test::to_host(calls)[0], 4);
}

}  // namespace tile_groups_test
}  // namespace gradcomp::kernels
