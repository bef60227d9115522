// Stripes cover the bucket in order, are balanced, keep rows and granules whole, and have their own keys.
#include "gradcomp/exchange/stripes.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

namespace gradcomp {
namespace stripes_test {

Layout network() {
  Layout layout;
  layout.add("conv", {3, 3, 8, 16}).add("norm", {16}).add("empty", {0}).add("fc", {40, 10}).add("bias", {10});
  return layout.add("scalar", {}).add("wide", {2, 700}).add("none", {0, 5}).add("last", {3000});
}

std::vector<Layout> layouts() {
  return {Layout{},          Layout::flat(0),
          Layout::flat(1),   Layout::flat(2),
          Layout::flat(127), Layout::flat(8191),
          network(),         Layout{}.add("matrix", {1000, 3}),
          network().fused(), Layout{}.add("row", {1, 5000})};
}

/// The segment of `layout` that contains element i.
const Segment& segment_at(const Layout& layout, index_t i) {
  for (const Segment& s : layout.segments) {
    if (i >= s.offset && i < s.offset + s.count) return s;
  }
  throw std::out_of_range("no such element");
}

TEST(Stripes, CoverTheBucketInOrder) {
  for (const Layout& layout : layouts()) {
    for (const index_t granule : {1, 32, 2048}) {
      for (const int parts : {1, 2, 3, 4, 5, 7, 64}) {
        const auto stripes = cut_stripes(layout, granule, parts);
        ASSERT_EQ(stripes.size(), static_cast<std::size_t>(parts));
        index_t end = 0;
        for (const Stripe& stripe : stripes) {
          ASSERT_EQ(stripe.first, end);
          index_t inside = 0;
          for (const Segment& piece : stripe.layout.segments) {
            ASSERT_EQ(piece.offset, inside);
            ASSERT_GT(piece.count, 0);
            ASSERT_EQ(std::accumulate(piece.shape.begin(), piece.shape.end(), index_t{1}, std::multiplies<>{}),
                      piece.count);
            const Segment& whole = segment_at(layout, stripe.first + inside);
            ASSERT_EQ(piece.name, whole.name);
            ASSERT_EQ(piece.is_matrix(), whole.is_matrix());
            ASSERT_LE(stripe.first + inside + piece.count, whole.offset + whole.count);
            if (piece.count == whole.count) {
              ASSERT_EQ(piece.shape, whole.shape);
            }
            inside += piece.count;
          }
          end += stripe.count();
        }
        ASSERT_EQ(end, layout.count());
      }
    }
  }
}

TEST(Stripes, CutBetweenRowsAndAtGranules) {
  for (const Layout& layout : layouts()) {
    for (const index_t granule : {1, 32, 2048}) {
      for (const int parts : {2, 3, 5, 7}) {
        for (const Stripe& stripe : cut_stripes(layout, granule, parts)) {
          index_t at = stripe.first;
          for (const Segment& piece : stripe.layout.segments) {
            const Segment& whole = segment_at(layout, at);
            ASSERT_EQ((at - whole.offset) % (whole.is_matrix() ? whole.columns() : granule), 0);
            if (whole.is_matrix()) {
              ASSERT_EQ(piece.columns(), whole.columns());
            }
            at += piece.count;
          }
        }
      }
    }
  }
}

// The distance of a boundary from that of an equal part is at most half of what has to stay together.
TEST(Stripes, AreBalanced) {
  for (const Layout& layout : layouts()) {
    for (const index_t granule : {1, 32, 2048}) {
      for (const int parts : {1, 2, 3, 5, 7, 64}) {
        const auto stripes = cut_stripes(layout, granule, parts);
        for (int p = 1; p < parts; ++p) {
          const index_t bound = stripes[static_cast<std::size_t>(p)].first;
          const double ideal = static_cast<double>(layout.count()) * p / parts;
          double unit = 0;
          if (layout.count() > 0) {
            const Segment& s = segment_at(layout, static_cast<index_t>(ideal));
            unit = static_cast<double>(s.is_matrix() ? s.columns() : std::min(granule, s.count));
          }
          ASSERT_LE(std::abs(static_cast<double>(bound) - ideal), unit / 2 + 2) << p << " of " << parts;
        }
      }
    }
  }
  const auto even = cut_stripes(Layout::flat(1000), 1, 4);
  for (const Stripe& stripe : even) EXPECT_EQ(stripe.count(), 250);
  const auto few = cut_stripes(Layout::flat(2), 1, 5);  // some are empty
  index_t sum = 0;
  for (const Stripe& stripe : few) sum += stripe.count();
  EXPECT_EQ(sum, 2);
  EXPECT_EQ(cut_stripes(Layout::flat(6000), 8192, 2)[0].count(), 0);  // 3000 is as far from 0 as from 6000
  EXPECT_EQ(cut_stripes(Layout::flat(index_t{1} << 40), 1, 7)[6].count(), ((index_t{1} << 40) + 6) / 7);
}

TEST(Stripes, HaveKeysOfTheirOwn) {
  std::set<index_t> ids;
  for (const Stripe& stripe : cut_stripes(network(), 32, 64)) {
    for (const Segment& piece : stripe.layout.segments) EXPECT_TRUE(ids.insert(piece.id).second) << piece.name;
  }
  EXPECT_GT(ids.size(), network().segments.size());
  Layout layout = Layout::flat(100);
  layout.segments[0].id = 17;
  EXPECT_EQ(cut_stripes(layout, 1, 2)[0].layout.segments[0].id, 17) << "the first piece keeps the id";
}

TEST(Stripes, PartsOfASourceAreItsElements) {
  std::vector<float> g(10), r(10), u(10), w(10), out(10);
  Source source;
  source.kind = Source::Kind::ef21;
  source.count = 10;
  source.gradient = g.data();
  source.memory = r.data();
  source.momentum = 0.25f;
  const auto stripes = cut_stripes(Layout::flat(10), 1, 3);
  for (const bool full : {false, true}) {
    source.velocity = full ? u.data() : nullptr;
    source.work = full ? w.data() : nullptr;
    const Source part = part_of(source, stripes[1]);
    EXPECT_EQ(part.count, stripes[1].count());
    EXPECT_EQ(part.gradient, g.data() + stripes[1].first);
    EXPECT_EQ(part.memory, r.data() + stripes[1].first);
    EXPECT_EQ(part.velocity, full ? u.data() + stripes[1].first : nullptr);
    EXPECT_EQ(part.work, full ? w.data() + stripes[1].first : nullptr);
    EXPECT_EQ(part.kind, source.kind);
    EXPECT_EQ(part.momentum, source.momentum);
  }
  const Span<float> part = part_of(Span<float>(out.data(), out.size()), stripes[2]);
  EXPECT_EQ(part.data(), out.data() + stripes[2].first);
  EXPECT_EQ(static_cast<index_t>(part.size()), stripes[2].count());
}

}  // namespace stripes_test
}  // namespace gradcomp
