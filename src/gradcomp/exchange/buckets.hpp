#pragma once
// How a model's gradient is cut into the buckets that travel together: at segment boundaries, from the back of the
// layout, where backward finishes first. An element belongs to one bucket; without elements there is no bucket.
#include <string>
#include <vector>

#include "gradcomp/core/layout.hpp"

namespace gradcomp {

/// Segments [first, last) of the model's layout, `offset` and `count` elements of its gradient.
struct BucketRange {
  std::size_t first = 0, last = 0;
  index_t offset = 0, count = 0;
};

/// With a size of one's own, the first bucket to be ready is at most this, so that the exchange starts early.
inline constexpr index_t first_bucket_bytes = 1024 * 1024;

/// Bucket 0 takes at most min(bucket_bytes, first_bucket_bytes) of gradient, the others at most bucket_bytes; a segment
/// that is larger than that makes a bucket alone.
std::vector<BucketRange> cut_buckets(const Layout& layout, index_t bucket_bytes);

/// Sizes that follow from the model: max(4, bytes / auto_bucket_bytes) buckets where the segments allow it, none below
/// min_bucket_bytes. The first to be ready is as small as that allows, so that the exchange starts early, and so is
/// the last, which no computation can hide; those between are about equal.
std::vector<BucketRange> cut_buckets(const Layout& layout);
inline constexpr index_t auto_bucket_bytes = 25 * 1024 * 1024, min_bucket_bytes = 64 * 1024;

/// The cut in a few words, different for different cuts: "4 buckets, hash 1a2b3c4d".
std::string describe(const std::vector<BucketRange>& buckets);

}  // namespace gradcomp
