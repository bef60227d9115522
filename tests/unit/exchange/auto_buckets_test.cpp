// Buckets with sizes that follow from the model.
#include <gtest/gtest.h>

#include "gradcomp/exchange/exchange.hpp"

namespace gradcomp {
namespace auto_buckets_test {

constexpr index_t least = min_bucket_bytes / 4;  // elements

Layout model(const std::vector<index_t>& counts) {
  Layout layout;
  for (const index_t count : counts) layout.add("t" + std::to_string(layout.segments.size()), {count});
  return layout;
}

/// Checks that every element is in one bucket, that buckets begin and end between tensors, and that they come from the
/// back.
void expect_cover(const Layout& layout, const std::vector<BucketRange>& buckets) {
  index_t end = layout.count();
  for (const BucketRange& b : buckets) {
    ASSERT_LT(b.first, b.last);
    EXPECT_GT(b.count, 0);
    EXPECT_EQ(b.offset + b.count, end);
    EXPECT_EQ(layout.segments[b.first].offset, b.offset);
    EXPECT_EQ(layout.segments[b.last - 1].offset + layout.segments[b.last - 1].count, end);
    end = b.offset;
  }
  EXPECT_EQ(end, 0);
}

/// Elements of the fewest tensors at one end that are enough for a bucket.
index_t fewest(const std::vector<index_t>& counts, bool from_back) {
  index_t sum = 0;
  for (std::size_t i = 0; i < counts.size() && sum < least; ++i) sum += counts[from_back ? counts.size() - 1 - i : i];
  return sum;
}

std::vector<index_t> drawn_model(int number) {
  std::vector<index_t> counts;
  std::uint64_t x = 12345 + static_cast<std::uint64_t>(number);
  for (int i = 0; i < 20 + number % 50; ++i) {
    x = x * 6364136223846793005U + 1442695040888963407U;
    counts.push_back(static_cast<index_t>((x >> 33) % (i % 3 == 0 ? 40 : 60000)));
  }
  return counts;
}

TEST(AutoBuckets, OfAnyModelCoverItWithSmallEnds) {
  int looked_at = 0;
  for (int number = 0; number < 200; ++number) {
    const auto counts = drawn_model(number);
    const Layout layout = model(counts);
    const auto buckets = cut_buckets(layout);
    expect_cover(layout, buckets);
    EXPECT_LE(buckets.size(), 6U) << number;
    for (const BucketRange& b : buckets) EXPECT_TRUE(b.count >= least || buckets.size() == 1) << number;
    if (buckets.size() < 3) continue;
    ++looked_at;
    EXPECT_EQ(buckets.front().count, fewest(counts, true)) << number;
    EXPECT_GE(buckets.back().count, fewest(counts, false)) << number;
    EXPECT_LT(buckets.back().count, fewest(counts, false) + least)
        << number << ": it may include a rest that is too small for a bucket";
  }
  EXPECT_GT(looked_at, 150);
}

TEST(AutoBuckets, OfEqualTensorsAreFourAboutEqualInTheMiddle) {
  const auto buckets = cut_buckets(model(std::vector<index_t>(42, least)));
  ASSERT_EQ(buckets.size(), 4U);
  EXPECT_EQ(buckets[0].count, least);
  EXPECT_EQ(buckets[1].count, 20 * least);
  EXPECT_EQ(buckets[2].count, 20 * least);
  EXPECT_EQ(buckets[3].count, least);
}

TEST(AutoBuckets, OfLargeModelsAreOneForEvery25MiB) {
  const index_t mib = 1024 * 1024 / 4;
  const auto buckets = cut_buckets(model(std::vector<index_t>(300, mib)));
  EXPECT_EQ(buckets.size(), 12U);
  EXPECT_EQ(buckets.front().count, mib);
  EXPECT_EQ(buckets.back().count, mib);
}

TEST(AutoBuckets, FuseManyTinyTensors) {
  EXPECT_EQ(cut_buckets(model(std::vector<index_t>(1000, 8))).size(), 1U) << "32 kB in all";
  const Layout layout = model(std::vector<index_t>(20000, 8));
  const auto buckets = cut_buckets(layout);
  expect_cover(layout, buckets);
  EXPECT_EQ(buckets.size(), 4U);
  EXPECT_EQ(buckets.front().count, least);
}

TEST(AutoBuckets, OfNothingAndOfOneElement) {
  EXPECT_TRUE(cut_buckets(model({})).empty());
  EXPECT_TRUE(cut_buckets(model({0, 0})).empty());
  for (const std::vector<index_t>& counts : {std::vector<index_t>{1}, {0, 1, 0}, {5 * least}, {1, 5 * least, 1}}) {
    const auto buckets = cut_buckets(model(counts));
    ASSERT_EQ(buckets.size(), 1U);
    EXPECT_EQ(buckets[0].count, model(counts).count());
  }
}

TEST(AutoBuckets, AreTheSameWheneverTheyAreCut) {
  for (int number = 0; number < 20; ++number) {
    const auto counts = drawn_model(number);
    EXPECT_EQ(describe(cut_buckets(model(counts))), describe(cut_buckets(model(counts)))) << number;
  }
  EXPECT_NE(describe(cut_buckets(model({least, least, least}))), describe(cut_buckets(model({least, 2 * least}))));
}

TEST(AutoBuckets, GiveWayToASizeOfOnesOwn) {
  const Layout layout = model(std::vector<index_t>(100, 1024));  // 4 KiB each
  ExchangeOptions options;
  EXPECT_EQ(describe(buckets_of(layout, options)), describe(cut_buckets(layout)));
  for (const index_t kib : {1, 4, 12, 1000}) {
    options.bucket_bytes = 1024 * kib;
    const auto buckets = buckets_of(layout, options);
    expect_cover(layout, buckets);
    const index_t fit = std::max<index_t>(1, kib / 4);
    for (std::size_t b = 0; b + 1 < buckets.size(); ++b) EXPECT_EQ(buckets[b].count, 1024 * fit) << kib;
    EXPECT_LE(buckets.back().count, 1024 * fit) << kib;
  }
}

}  // namespace auto_buckets_test
}  // namespace gradcomp
