#include "gradcomp/train/importance_pass.hpp"

#include <algorithm>

#include "gradcomp/core/read_back.hpp"
#include "gradcomp/nn/make_model.hpp"

namespace gradcomp::train {

ImportancePass::ImportancePass(const Job& job, index_t max_samples)
    : m_task(job.task),
      m_shard(job.shard()),
      m_model(nn::make_model<float>(job.options.model, job.task.shape(), static_cast<int>(max_samples))),
      m_parameters("gradcomp::train::importance::parameters", static_cast<std::size_t>(m_model->layout().count())),
      m_buffers("gradcomp::train::importance::buffers", static_cast<std::size_t>(m_model->buffer_count())),
      m_losses("gradcomp::train::importance::losses", static_cast<std::size_t>(max_samples)) {
  m_shard.augment = false;
}

void ImportancePass::keep(const Exec& exec, const Span<const float>& parameters, const Span<const float>& buffers) {
  Kokkos::deep_copy(exec, m_parameters, parameters);
  // With another batch size the buffers may have more room for hidden states, which are not read.
  const std::size_t shared = std::min(m_buffers.size(), buffers.size());
  Kokkos::deep_copy(exec, Span<float>(m_buffers.data(), shared), Span<const float>(buffers.data(), shared));
}

void ImportancePass::evaluate(const Exec& exec, std::span<const index_t> samples, std::span<float> losses) {
  m_batch.indices.assign(samples.begin(), samples.end());
  m_batch.epoch = 0;
  m_task.fill(m_shard, m_batch);
  m_model->infer(exec, m_parameters, m_buffers, m_device.upload(exec, m_batch));
  const Span<float> device(m_losses.data(), losses.size());
  m_model->sample_losses(exec, device);
  m_model->loss(exec);  // throws if a label is not a class: such a sample has no loss and would never be drawn
  read_back(exec, Span<const float>(device), losses.data(), "gradcomp::train::importance_pass");
}

}  // namespace gradcomp::train
