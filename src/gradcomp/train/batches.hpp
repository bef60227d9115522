#pragma once
// The training batches of one trainer: the data set's own, which a thread prepares ahead, or those that a sampler draws
// by importance (sampling/batch_sampler.hpp) together with the forward passes that it asks for.
#include <memory>

#include "gradcomp/measure/timeline.hpp"
#include "gradcomp/sampling/batch_sampler.hpp"
#include "gradcomp/train/contender.hpp"
#include "gradcomp/train/importance_pass.hpp"

namespace gradcomp::train {

class Batches {
 public:
  /// Collective.
  Batches(const Job& job, const Contender& contender);

  /// The batch of `step`, valid until the next call. `parameters`, `buffers`: those of the step. Call it for one step
  /// after the other.
  nn::Batch<float> next(const Exec& exec, index_t step, const Span<const float>& parameters,
                        const Span<const float>& buffers, Timeline* timeline);
  /// A step without a batch, of a run that has diverged.
  void rest() {
    if (m_sampler) m_slices.push_back(0);
  }
  /// Computes one slice of importance for the current step; false if there is none to compute.
  bool evaluate_slice(const Exec& exec, Timeline* timeline);
  /// Computes the slices that the step still needs, so that the next batch can be drawn.
  void finish(const Exec& exec, Timeline* timeline);

  /// Whether samples change ranks before `step`. No other work of the training may be pending then.
  bool reshards_before(index_t step) const;
  /// Collective. Returns the bytes that this rank sent.
  index_t reshard(const Exec& exec);

  /// Nothing if the batches are the data set's own.
  const BatchSampler* sampler() const { return m_sampler.get(); }
  /// Slices of every step so far.
  std::vector<index_t>& slices() { return m_slices; }
  /// Samples of this rank that have changed ranks so far.
  index_t moved() const { return m_moved; }

  Memories memories();
  /// Continues at `step`, after memories were restored. Throws Error if these are not those of `step` and the data set.
  void restart(index_t step);

 private:
  void require_samples_of_the_set() const;
  const data::Batch& draw(index_t step);
  EvaluateLosses evaluator(const Exec& exec);

  const data::Task& m_task;
  data::Shard m_shard;
  index_t m_epoch_steps;
  std::unique_ptr<data::Loader> m_loader;   ///< the data set's own batches
  std::unique_ptr<BatchSampler> m_sampler;  ///< or those of a sampler
  std::unique_ptr<ImportancePass> m_pass;
  WeightedBatch m_drawn;
  data::Batch m_batch;
  nn::DeviceBatch m_device;
  std::vector<index_t> m_slices;
  index_t m_moved = 0;
};

}  // namespace gradcomp::train
