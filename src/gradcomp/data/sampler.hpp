#pragma once
// Which samples a rank sees in which step. Every epoch has a new permutation of the samples, which is cut into global
// batches; these are dealt to the ranks. The result is a pure function of (seed, step), so that all ranks and resumed
// runs agree without communication.
#include <cstdint>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp::data {

/// The permutation of 0 .. count - 1 in `epoch`, by the Fisher-Yates shuffle with the draws of (seed, epoch).
std::vector<index_t> shuffled(index_t count, std::uint64_t seed, index_t epoch);

struct SamplerOptions {
  index_t samples = 0;  ///< size of the set
  index_t batch = 0;    ///< samples per rank and step
  int rank = 0, ranks = 1;
  std::uint64_t seed = 1;
};

class Sampler {
 public:
  /// Throws Error if the set has fewer samples than a global batch (batch x ranks), if batch or ranks are below 1, or
  /// if rank is not in [0, ranks).
  explicit Sampler(const SamplerOptions& options);

  /// Whole global batches in an epoch. The samples that remain are not used; they differ from epoch to epoch.
  index_t steps_per_epoch() const { return m_steps; }
  index_t epoch(index_t step) const { return step / m_steps; }
  index_t batch_size() const { return m_options.batch; }
  std::uint64_t seed() const { return m_options.seed; }

  /// The samples of this rank in `step`: positions rank, rank + ranks, ... of the global batch. So all ranks together
  /// see the same samples for every number of ranks with the same global batch. Takes time O(batch), or O(samples) when
  /// the epoch changes.
  void batch(index_t step, std::vector<index_t>& indices);

 private:
  SamplerOptions m_options;
  index_t m_steps;
  index_t m_epoch = -1;  ///< epoch of m_order
  std::vector<index_t> m_order;
};

}  // namespace gradcomp::data
