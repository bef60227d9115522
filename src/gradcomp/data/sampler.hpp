#pragma once
// Which samples a rank sees at which step: a fresh permutation per epoch, cut into global batches, dealt to the ranks.
// A pure function of (seed, step), so that every rank, and a restarted run, agrees without communication.
#include <cstdint>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp::data {

/// The permutation of 0 .. count - 1 of `epoch`: Fisher-Yates with draws keyed by (seed, epoch).
std::vector<index_t> shuffled(index_t count, std::uint64_t seed, index_t epoch);

struct SamplerOptions {
  index_t samples = 0;  ///< size of the set
  index_t batch = 0;    ///< samples per rank and step
  int rank = 0, ranks = 1;
  std::uint64_t seed = 1;
};

class Sampler {
 public:
  /// Throws Error when the set holds no whole global batch (batch x ranks), or for senseless numbers.
  explicit Sampler(const SamplerOptions& options);

  /// Whole global batches in an epoch; the remainder (another one every epoch) is dropped.
  index_t steps_per_epoch() const { return m_steps; }
  index_t epoch(index_t step) const { return step / m_steps; }
  index_t batch_size() const { return m_options.batch; }
  std::uint64_t seed() const { return m_options.seed; }

  /// The samples of this rank at `step`: positions rank, rank + ranks, ... of the global batch. So the union over ranks
  /// is the same for every number of ranks with the same global batch. O(batch), but O(samples) where the epoch
  /// changes.
  void batch(index_t step, std::vector<index_t>& indices);

 private:
  SamplerOptions m_options;
  index_t m_steps;
  index_t m_epoch = -1;  ///< of m_order
  std::vector<index_t> m_order;
};

}  // namespace gradcomp::data
