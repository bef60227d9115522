#pragma once
// What methods share that take their threshold from a sample (gradient_dropping, dgc): which elements are looked at.
#include <vector>

#include "gradcomp/compressors/detail/sparse/sparsifier.hpp"
#include "gradcomp/kernels/select/sampled_rank.hpp"

namespace gradcomp::compressors {

/// Every stride-th element of a segment, and which of them by magnitude is the threshold.
struct SamplePlan {
  index_t stride = 1, count = 0, rank = 0;
};

/// Aji & Heafield: at most `max_samples` of n elements, floor(n / m) apart with m = min(max_samples, n); sample[max(0,
/// floor(m (1 - density)) - 1)] of the ascending sample. `odd`: the smallest odd stride with at most `max_samples`
/// elements instead, which covers the segment to its end (the paper's leaves out up to a half of it) and no period of
/// 2^j aliases with.
SamplePlan dropping_sample(index_t n, double density, index_t max_samples, bool odd);

/// DGC: s = max(ceil(share n), ceil(min_rank / density)) elements wanted; the stride is the first with floor(n /
/// stride) >= s of ceil(n / s / 32) 32 + 1 and what follows in steps of -8; the ceil(count density)-th largest. With
/// n <= min_rank / density all elements. `fine`: steps of -2, since 9 is followed by 1, the whole segment.
SamplePlan dgc_sample(index_t n, double density, double share, index_t min_rank, bool fine);

struct SampledState : SparseState {
  /// capacity: [segments] as kernels::SampledRank's.
  SampledState(const Layout& bucket, double usual, index_t max_entries, const coders::SparseCoding& coding,
               const std::vector<index_t>& capacity)
      : SparseState(bucket, usual, max_entries, coding), sampler(layout, capacity), samples(layout.segments.size()) {}

  index_t scratch_bytes() const override { return SparseState::scratch_bytes() + sampler.bytes(); }

  /// Sets the sample of an open segment.
  void sample(std::size_t s, const SamplePlan& plan, index_t start) {
    samples[s] = {start, plan.stride, plan.count, plan.rank};
  }

  kernels::SampledRank sampler;
  std::vector<kernels::Sample> samples;  ///< [segments] of this step
};

}  // namespace gradcomp::compressors
