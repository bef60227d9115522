#include "gradcomp/exchange/buckets.hpp"

#include <gtest/gtest.h>

#include "gradcomp/core/error.hpp"

namespace gradcomp {
namespace buckets_test {

/// A layout of vectors with these lengths.
Layout model(const std::vector<index_t>& counts) {
  Layout layout;
  for (const index_t count : counts) layout.add("t" + std::to_string(layout.segments.size()), {count});
  return layout;
}

void expect_cover(const Layout& layout, const std::vector<BucketRange>& buckets) {
  std::size_t last = layout.segments.size();
  index_t end = layout.count();
  for (const auto& b : buckets) {
    EXPECT_EQ(b.last, last);
    EXPECT_LT(b.first, b.last);
    EXPECT_EQ(b.offset + b.count, end);
    EXPECT_EQ(layout.slice(b.first, b.last).count(), b.count);
    last = b.first;
    end = b.offset;
  }
  EXPECT_EQ(end, 0);
}

TEST(Buckets, AreCutFromTheBackAtSegmentBoundaries) {
  const Layout layout = model({10, 20, 30, 40, 50});
  const auto buckets = cut_buckets(layout, 70 * 4);
  ASSERT_EQ(buckets.size(), 3u);
  expect_cover(layout, buckets);
  EXPECT_EQ(buckets[0].first, 4u);  // 50 elements; 40 more do not fit
  EXPECT_EQ(buckets[1].first, 2u);  // 40 + 30 fit exactly
  EXPECT_EQ(buckets[2].first, 0u);
}

TEST(Buckets, ALargeSegmentIsAloneAndTheFirstBucketIsSmall) {
  const index_t mib = 1024 * 1024 / 4;
  const Layout layout = model({mib, mib, 20 * mib, mib / 2, mib / 2, 1});
  const auto buckets = cut_buckets(layout, 25 * 1024 * 1024);
  expect_cover(layout, buckets);
  ASSERT_EQ(buckets.size(), 2u);
  EXPECT_EQ(buckets[0].count, mib / 2 + 1);
  EXPECT_EQ(cut_buckets(model({3 * mib}), 25 * 1024 * 1024).size(), 1u);
  EXPECT_EQ(cut_buckets(model({5, 3 * mib, 5}), 1024 * 1024).size(), 3u);
}

TEST(Buckets, EmptyTensorsAndEmptyModels) {
  const Layout layout = model({4, 0, 0, 4, 0});
  for (const index_t bytes : {1, 16, 1000}) expect_cover(layout, cut_buckets(layout, bytes));
  EXPECT_TRUE(cut_buckets(model({}), 100).empty());
  EXPECT_TRUE(cut_buckets(model({0, 0}), 100).empty());
  EXPECT_THROW(cut_buckets(layout, 0), Error);
}

}  // namespace buckets_test
}  // namespace gradcomp
