#pragma once
// What gradient_dropping and dgc share, which take their threshold from a sample: which elements the sample holds.
#include <vector>

#include "gradcomp/compressors/detail/sparse/sparsifier.hpp"
#include "gradcomp/kernels/select/sampled_rank.hpp"

namespace gradcomp::compressors {

/// Every stride-th element of a segment; the rank-th largest magnitude of them is the threshold.
struct SamplePlan {
  index_t stride = 1, count = 0, rank = 0;
};

/// Aji & Heafield: m = min(max_samples, n) elements, floor(n / m) apart. The threshold is sample[max(0, floor(m (1 -
/// density)) - 1)] of the ascending sample. `odd`: takes the smallest odd stride with at most `max_samples` elements.
/// It covers the segment to its end, whereas the paper's stride may leave out up to half of it, and it has no factor in
/// common with periods of 2^j.
SamplePlan dropping_sample(index_t n, double density, index_t max_samples, bool odd);

/// DGC: s = max(ceil(share n), ceil(min_rank / density)) elements are wanted. The stride starts at ceil(n / s / 32) 32
/// + 1 and falls by 8 until floor(n / stride) >= s. The threshold is the ceil(count density)-th largest magnitude. With
/// n <= min_rank / density, all elements are taken. `fine`: the stride falls by 2, because after 9 a step of 8 would
/// take the whole segment.
SamplePlan dgc_sample(index_t n, double density, double share, index_t min_rank, bool fine);

struct SampledState : SparseState {
  /// `capacity`: [segments] as in kernels::SampledRank.
  SampledState(const Layout& bucket, double usual, index_t max_entries, const coders::SparseCoding& coding,
               const std::vector<index_t>& capacity)
      : SparseState(bucket, usual, max_entries, coding, kernels::Statistics::magnitudes),
        sampler(layout, capacity),
        samples(layout.segments.size()) {}

  index_t scratch_bytes() const override { return SparseState::scratch_bytes() + sampler.bytes(); }

  /// Sets the sample of an open segment. `start`: its first element.
  void sample(std::size_t s, const SamplePlan& plan, index_t start) {
    samples[s] = {start, plan.stride, plan.count, plan.rank};
  }

  kernels::SampledRank sampler;
  std::vector<kernels::Sample> samples;  ///< [segments] samples of this step
};

}  // namespace gradcomp::compressors
