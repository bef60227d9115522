#pragma once
// Thresholds from samples: gathers a strided sample of |a| of each segment, and finds its rank-th largest value
// exactly. Batched launches process all segments.
#include <vector>

#include "gradcomp/core/shared.hpp"
#include "gradcomp/kernels/select/radix.hpp"

namespace gradcomp::kernels {

/// The sample of one segment: elements start, start + stride, ... of the segment, `count` of them.
struct Sample {
  index_t start = 0, stride = 1;
  index_t count = 0;  ///< 0: the segment is skipped
  index_t rank = 0;   ///< in [1, count]; 1 is the largest
};

/// Where a sample of a segment starts, in [0, range), range < 2^32. It is another place in every step and on every
/// rank, so that every place of the segment is sampled from time to time.
index_t random_start(index_t range, std::uint64_t seed, index_t segment, std::int64_t step, int rank);

class SampledRank {
 public:
  /// `capacity`: [segments] the largest number of samples that a segment will have.
  SampledRank(const Layout& layout, const std::vector<index_t>& capacity);

  /// Finds the rank-th largest sample of each segment with a count above 0 and open[segment] != 0 (device memory; null:
  /// all segments). `samples`: [segments], within their segments and capacities. If the host may read `open` and there
  /// is no such segment, nothing more is launched.
  void run(const Exec& exec, const float* a, const std::vector<Sample>& samples, const std::int32_t* open,
           bool host_looks);

  /// [segments], from the last run(): if rank > 0, `high` is the magnitude() that was found.
  const Vector<SegmentSearch>& searches() const { return m_searches; }

  index_t bytes() const;

 private:
  Layout m_layout;  ///< of the bucket
  Layout m_sample_layout;
  Tiles m_tiles;  ///< of the samples
  Radix m_radix;
  Shared<Sample> m_samples;          ///< [segments] starts relative to the bucket
  Vector<index_t> m_places;          ///< [segments] index of the first sample
  Vector<SegmentSearch> m_searches;  ///< [segments]
  Vector<float> m_values;            ///< [sum of capacities]
};

}  // namespace gradcomp::kernels
