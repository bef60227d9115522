#pragma once
// Which samples belong to a rank, and in which order the rank sees them. Samples are dealt evenly or skewed by label,
// as in federated learning.
#include <cstdint>
#include <span>
#include <vector>

#include "gradcomp/data/dataset.hpp"
#include "gradcomp/data/sampler.hpp"
#include "gradcomp/data/task.hpp"

namespace gradcomp::data {

/// The samples of shard.rank, ascending, skewed by label. shard.skew is the concentration of a Dirichlet distribution
/// over the ranks for each class, as in Li et al. 2022 (arXiv 2102.02079); Hsu, Qi and Brown 2019 (arXiv 1909.06335)
/// have one over the classes for each client. Small values give a class to few ranks; large values give it to all in
/// equal parts. Samples come in a random order. Each goes to a rank that is drawn from its class's distribution among
/// the ranks with room. Every rank owns count / ranks samples, so that all have the same number of whole batches; the
/// other count % ranks samples have no owner. The result is a pure function of labels, skew, ranks and seed. Throws
/// Error for a label outside [0, classes), a skew outside [0.01, 1e6] or a rank outside [0, ranks).
std::vector<index_t> skewed_samples(std::span<const std::int32_t> labels, index_t classes, const Shard& shard);

/// The count / ranks samples that belong to shard.rank, ascending: skewed_samples(), or dealt_samples() if shard.skew
/// is 0. Throws Error if they are fewer than shard.batch.
std::vector<index_t> own_samples(std::span<const std::int32_t> labels, index_t classes, const Shard& shard);
std::vector<index_t> own_samples(const ImageSet& set, const Shard& shard);
/// Deals `count` samples evenly: shard.rank gets every ranks-th sample of a random order, ascending. count % ranks
/// samples have no owner. Ignores shard.skew. Throws Error if they are fewer than shard.batch.
std::vector<index_t> dealt_samples(index_t count, const Shard& shard);

/// The training batches of a rank. If shard.skew is 0, they are those of sampler.hpp. Otherwise every epoch has a new
/// permutation of the rank's own samples.
class ShardSampler {
 public:
  /// Throws Error if the samples are too few for a batch, or if batch, rank, ranks or skew are not allowed.
  ShardSampler(const ImageSet& set, const Shard& shard);
  ShardSampler(std::span<const std::int32_t> labels, index_t classes, const Shard& shard);

  index_t steps_per_epoch() const { return m_sampler.steps_per_epoch(); }
  index_t epoch(index_t step) const { return m_sampler.epoch(step); }
  /// Fills `indices` with the samples of this rank in `step`.
  void batch(index_t step, std::vector<index_t>& indices);

 private:
  std::vector<index_t> m_own;  ///< the rank's own samples; empty if shard.skew is 0
  Sampler m_sampler;
};

}  // namespace gradcomp::data
