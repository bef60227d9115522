#pragma once
// How a model's gradient is cut into the buckets that travel together.
#include <vector>

#include "gradcomp/core/layout.hpp"

namespace gradcomp {

/// Segments [first, last) of the model's layout, `offset` and `count` elements of its gradient.
struct BucketRange {
  std::size_t first = 0, last = 0;
  index_t offset = 0, count = 0;
};

/// The first bucket to be ready is small, so that the exchange starts early.
inline constexpr index_t first_bucket_bytes = 1024 * 1024;

/// Cuts at segment boundaries from the back of the layout, where backward finishes first. Bucket 0 takes at most
/// min(bucket_bytes, first_bucket_bytes) of gradient, the others at most bucket_bytes; a segment that is larger than
/// that makes a bucket alone. No element: no bucket.
std::vector<BucketRange> cut_buckets(const Layout& layout, index_t bucket_bytes);

}  // namespace gradcomp
