#include "gradcomp/exchange/buckets.hpp"

#include <algorithm>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/payload.hpp"

namespace gradcomp {
namespace {

index_t bytes_of(index_t elements) { return elements * size_of(DType::f32); }

/// Cuts from the back. full(buckets so far, elements of the bucket, next segment) says whether the bucket is complete
/// without that segment.
template <class Full>
std::vector<BucketRange> cut(const Layout& layout, Full full) {
  std::vector<BucketRange> buckets;
  std::size_t last = layout.segments.size();
  while (last > 0) {
    BucketRange bucket{last, last, 0, 0};
    while (bucket.first > 0) {
      const Segment& next = layout.segments[bucket.first - 1];
      if (bucket.count > 0 && full(buckets.size(), bucket.count, next)) break;
      --bucket.first;
      bucket.count += next.count;
      bucket.offset = next.offset;
    }
    last = bucket.first;
    if (bucket.count > 0) buckets.push_back(bucket);
  }
  return buckets;
}

/// Elements at the front of the layout that the last bucket takes: the fewest that reach min_bucket_bytes.
index_t last_bucket(const Layout& layout) {
  for (const Segment& segment : layout.segments) {
    const index_t end = segment.offset + segment.count;
    if (bytes_of(end) >= min_bucket_bytes) return end;
  }
  return layout.count();
}

}  // namespace

std::vector<BucketRange> cut_buckets(const Layout& layout, index_t bucket_bytes) {
  require(bucket_bytes > 0, "bucket_bytes={} is not allowed; it must be at least 1", bucket_bytes);
  return cut(layout, [&](std::size_t bucket, index_t count, const Segment& next) {
    const index_t limit = bucket == 0 ? std::min(bucket_bytes, first_bucket_bytes) : bucket_bytes;
    return bytes_of(count + next.count) > limit;
  });
}

std::vector<BucketRange> cut_buckets(const Layout& layout) {
  const index_t wanted = std::max<index_t>(4, bytes_of(layout.count()) / auto_bucket_bytes);
  const index_t tail = last_bucket(layout);
  index_t share = 0;  // elements of each bucket between the first and the last
  return cut(layout, [&](std::size_t bucket, index_t count, const Segment& next) {
    const index_t rest = next.offset + next.count;  // elements that are not in a bucket yet
    const bool enough = bytes_of(count) >= min_bucket_bytes;
    const bool rest_is_enough = bytes_of(rest) >= min_bucket_bytes;
    if (!enough || !rest_is_enough) return false;
    if (bucket == 0) share = std::max<index_t>(1, (rest - tail) / (wanted - 2));
    if (bucket == 0 || rest <= tail) return true;
    return count + next.count / 2 > share;  // the boundary nearest to the share
  });
}

std::string describe(const std::vector<BucketRange>& buckets) {
  std::string all;
  for (const BucketRange& bucket : buckets) all += fmt::format("{}-{};", bucket.first, bucket.last);
  return fmt::format("{} buckets, hash {:08x}", buckets.size(), text_hash(all.c_str()));
}

}  // namespace gradcomp
