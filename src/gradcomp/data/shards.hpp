#pragma once
// Which samples a rank owns, and in which order it sees them: dealt evenly, or skewed by label, as in federated
// learning.
#include <cstdint>
#include <span>
#include <vector>

#include "gradcomp/data/dataset.hpp"
#include "gradcomp/data/sampler.hpp"
#include "gradcomp/data/task.hpp"

namespace gradcomp::data {

/// The samples of shard.rank, ascending, labels skewed by shard.skew > 0, the concentration of a Dirichlet distribution
/// (Hsu, Qi, Brown 2019, arXiv 1909.06335; there over the classes of a client, here over the ranks of a class, as in Li
/// et al. 2022, arXiv 2102.02079): small values give a class to few ranks, large ones to all alike. Samples come in a
/// random order, and each goes to a rank drawn from its class's distribution, restricted to ranks with room: every rank
/// owns count / ranks samples, so that all have the same number of whole batches; count % ranks samples have no owner.
/// A pure function of labels and (skew, ranks, seed). Throws Error for a label that is no class or a skew outside
/// [0.01, 1e6].
std::vector<index_t> skewed_samples(std::span<const std::int32_t> labels, index_t classes, const Shard& shard);

/// The samples that belong to shard.rank, ascending, count / ranks on every rank: skewed_samples(), or every ranks-th
/// of a random order where shard.skew is 0 (count % ranks samples have no owner). Throws Error where they are fewer
/// than shard.batch.
std::vector<index_t> own_samples(std::span<const std::int32_t> labels, index_t classes, const Shard& shard);
std::vector<index_t> own_samples(const ImageSet& set, const Shard& shard);
/// The same of `count` samples without labels; shard.skew is not looked at.
std::vector<index_t> dealt_samples(index_t count, const Shard& shard);

/// The training batches of a rank: sampler.hpp's where shard.skew is 0; otherwise a fresh permutation of the rank's own
/// samples per epoch.
class ShardSampler {
 public:
  /// Throws Error when the rank's samples are less than a batch, or for senseless numbers.
  ShardSampler(const ImageSet& set, const Shard& shard);
  ShardSampler(std::span<const std::int32_t> labels, index_t classes, const Shard& shard);

  index_t steps_per_epoch() const { return m_sampler.steps_per_epoch(); }
  index_t epoch(index_t step) const { return m_sampler.epoch(step); }
  /// The samples of this rank at `step`.
  void batch(index_t step, std::vector<index_t>& indices);

 private:
  std::vector<index_t> m_own;  ///< empty: all
  Sampler m_sampler;
};

}  // namespace gradcomp::data
