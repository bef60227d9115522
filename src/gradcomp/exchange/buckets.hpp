#pragma once
// How a model's gradient is cut into buckets, each of which is exchanged as one: at segment boundaries, from the back
// of the layout, where backward finishes first. Every element belongs to one bucket; there are no empty buckets.
#include <string>
#include <vector>

#include "gradcomp/core/layout.hpp"

namespace gradcomp {

/// Segments [first, last) of the model's layout, `offset` and `count` elements of its gradient.
struct BucketRange {
  std::size_t first = 0, last = 0;
  index_t offset = 0, count = 0;
};

/// If the user gives a bucket size, the bucket that is ready first is at most this large, so that the exchange starts
/// early.
inline constexpr index_t first_bucket_bytes = 1024 * 1024;

/// Bucket 0 takes at most min(bucket_bytes, first_bucket_bytes) of gradient, the others at most bucket_bytes; a larger
/// segment is a bucket of its own.
std::vector<BucketRange> cut_buckets(const Layout& layout, index_t bucket_bytes);

/// Sizes that follow from the model: max(4, bytes / auto_bucket_bytes) buckets if the segments allow it, none below
/// min_bucket_bytes. The first bucket to be ready is as small as possible, so that the exchange starts early. The
/// last one is as small as possible too, because no computation can hide it. The others are about equal.
std::vector<BucketRange> cut_buckets(const Layout& layout);
inline constexpr index_t auto_bucket_bytes = 25 * 1024 * 1024, min_bucket_bytes = 64 * 1024;

/// The cut in a few words, different for different cuts: "4 buckets, hash 1a2b3c4d".
std::string describe(const std::vector<BucketRange>& buckets);

}  // namespace gradcomp
