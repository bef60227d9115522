#include "gradcomp/exchange/buckets.hpp"

#include <algorithm>

#include "gradcomp/core/error.hpp"

namespace gradcomp {

std::vector<BucketRange> cut_buckets(const Layout& layout, index_t bucket_bytes) {
  require(bucket_bytes > 0, "bucket_bytes {} is not allowed; it is at least 1", bucket_bytes);
  std::vector<BucketRange> buckets;
  std::size_t last = layout.segments.size();
  while (last > 0) {
    const index_t limit = buckets.empty() ? std::min(bucket_bytes, first_bucket_bytes) : bucket_bytes;
    BucketRange bucket{last, last, 0, 0};
    while (bucket.first > 0) {
      const Segment& next = layout.segments[bucket.first - 1];
      if (bucket.count > 0 && (bucket.count + next.count) * size_of(DType::f32) > limit) break;
      --bucket.first;
      bucket.count += next.count;
      bucket.offset = next.offset;
    }
    last = bucket.first;
    if (bucket.count > 0) buckets.push_back(bucket);
  }
  return buckets;
}

}  // namespace gradcomp
