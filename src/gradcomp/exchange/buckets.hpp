#pragma once
// How a model's gradient is cut into buckets, each of which is exchanged as one unit. The cuts are at segment
// boundaries, from the back of the layout, where backward finishes first. Every element belongs to one bucket, and no
// bucket is empty.
#include <string>
#include <vector>

#include "gradcomp/core/layout.hpp"

namespace gradcomp {

/// Segments [first, last) of the model's layout: `count` elements of its gradient from `offset` on.
struct BucketRange {
  std::size_t first = 0, last = 0;
  index_t offset = 0, count = 0;
};

/// If the user gives a bucket size, this also limits the bucket that is ready first, so that the exchange starts early.
inline constexpr index_t first_bucket_bytes = 1024 * 1024;

/// Cuts so that bucket 0 takes at most min(bucket_bytes, first_bucket_bytes) bytes of gradient and the others at most
/// bucket_bytes. A larger segment is a bucket of its own.
std::vector<BucketRange> cut_buckets(const Layout& layout, index_t bucket_bytes);

/// Cuts by sizes that follow from the model: max(4, bytes / auto_bucket_bytes) buckets if the segments allow it, none
/// smaller than min_bucket_bytes. The first bucket to be ready is as small as possible, so that the exchange starts
/// early. The last one is as small as possible too, because no computation can hide it. The others are about equal.
std::vector<BucketRange> cut_buckets(const Layout& layout);
inline constexpr index_t auto_bucket_bytes = 25 * 1024 * 1024, min_bucket_bytes = 64 * 1024;

/// Describes the cut in a few words, which differ for different cuts: "4 buckets, hash 1a2b3c4d".
std::string describe(const std::vector<BucketRange>& buckets);

}  // namespace gradcomp
