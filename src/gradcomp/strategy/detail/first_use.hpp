#pragma once
// Records the order in which a forward pass uses its layers.
#include <algorithm>
#include <limits>
#include <vector>

#include "gradcomp/exchange/buckets.hpp"

namespace gradcomp {

class FirstUse {
 public:
  /// Tells that the layer that begins with this segment comes next.
  void note(std::size_t segment) {
    if (std::find(m_layers.begin(), m_layers.end(), segment) == m_layers.end()) m_layers.push_back(segment);
  }

  /// Whether the layer that begins with `segment` needs a part of the bucket. A layer ends where another one begins.
  bool needs(std::size_t segment, const BucketRange& bucket) const {
    std::size_t end = std::numeric_limits<std::size_t>::max();
    for (const std::size_t other : m_layers) {
      if (other > segment) end = std::min(end, other);
    }
    return bucket.first < end && segment < bucket.last;
  }

  /// [layers in the order of first use]: the buckets that each layer needs.
  std::vector<std::vector<std::size_t>> buckets_of_layers(const std::vector<BucketRange>& buckets) const {
    std::vector<std::vector<std::size_t>> all;
    for (const std::size_t layer : m_layers) {
      all.emplace_back();
      for (std::size_t b = 0; b < buckets.size(); ++b) {
        if (needs(layer, buckets[b])) all.back().push_back(b);
      }
    }
    return all;
  }

 private:
  std::vector<std::size_t> m_layers;
};

}  // namespace gradcomp
