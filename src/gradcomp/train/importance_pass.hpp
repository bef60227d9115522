#pragma once
// Computes the losses of samples by a forward pass alone, during a training step. The pass has a model object of its
// own (so the step's activations stay), the parameters as they were when the step began (strategies update them while
// slices are computed), and a copy of the model's buffers. It normalises with the running statistics of batch norm and
// never changes them, begins every text without a hidden state, and uses no dropout.
#include <memory>
#include <span>

#include "gradcomp/train/evaluation.hpp"

namespace gradcomp::train {

class ImportancePass {
 public:
  /// For slices of up to `max_samples` samples.
  ImportancePass(const Job& job, index_t max_samples);

  /// Takes the step's parameters and buffers.
  void keep(const Exec& exec, const Span<const float>& parameters, const Span<const float>& buffers);

  /// The mean loss of each of `samples`, without augmentation. Waits for `exec`. Throws Error if a label is not a
  /// class.
  void evaluate(const Exec& exec, std::span<const index_t> samples, std::span<float> losses);

 private:
  const data::Task& m_task;
  data::Shard m_shard;
  std::unique_ptr<nn::Model<float>> m_model;
  Vector<float> m_parameters, m_buffers, m_losses;
  data::Batch m_batch;
  nn::DeviceBatch m_device;
};

}  // namespace gradcomp::train
