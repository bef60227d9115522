#pragma once
// The model of a rig with hooks, by which a test can watch it or interfere.
#include "training/rig.hpp"

namespace gradcomp::train::test {

class WatchedModel final : public nn::Model<float> {
 public:
  explicit WatchedModel(std::unique_ptr<nn::Model<float>> inner) : m_inner(std::move(inner)) {}

  std::function<void(const HostSpan<float>& parameters)> on_initialise;
  /// Called before forward with the buffers that it is going to use.
  std::function<void(const Span<const float>& buffers)> on_forward;
  /// Called in forward before the layer that begins with this segment.
  std::function<void(std::size_t segment)> on_layer;
  /// Called in forward with the parameters that the layer is going to use.
  std::function<void(std::size_t segment, const Span<const float>& parameters)> on_parameters;
  /// Called in backward before the trainer gets to know that this segment and all later ones are complete.
  std::function<void(std::size_t first, const Span<float>& gradient)> on_ready;
  std::function<void()> on_backward_end;
  /// Called before each batch of an evaluation.
  std::function<void()> on_infer;

  const std::string& name() const override { return m_inner->name(); }
  const Layout& layout() const override { return m_inner->layout(); }
  index_t buffer_count() const override { return m_inner->buffer_count(); }
  bool has_statistics() const override { return m_inner->has_statistics(); }
  int max_batch() const override { return m_inner->max_batch(); }
  int classes() const override { return m_inner->classes(); }
  index_t image_size() const override { return m_inner->image_size(); }
  double step_flops() const override { return m_inner->step_flops(); }
  void initialise(std::uint64_t seed, const HostSpan<float>& parameters,
                  const HostSpan<float>& buffers) const override {
    m_inner->initialise(seed, parameters, buffers);
    if (on_initialise) on_initialise(parameters);
  }
  void forward(const Exec& exec, const Span<const float>& parameters, const Span<float>& buffers,
               const nn::Batch<float>& batch) override {
    if (on_forward) on_forward(buffers);
    m_inner->forward(exec, parameters, buffers, batch, [&](std::size_t segment) {
      if (on_layer) on_layer(segment);
      need(segment);
      if (on_parameters) on_parameters(segment, parameters);
    });
  }
  void backward(const Exec& exec, const Span<const float>& parameters, const Span<float>& gradient,
                const nn::Ready& ready) override {
    m_inner->backward(exec, parameters, gradient, [&](std::size_t first) {
      if (on_ready) on_ready(first, gradient);
      if (ready) ready(first);
    });
    if (on_backward_end) on_backward_end();
  }
  void infer(const Exec& exec, const Span<const float>& parameters, const Span<float>& buffers,
             const nn::Batch<float>& batch) override {
    if (on_infer) on_infer();
    m_inner->infer(exec, parameters, buffers, batch);
  }
  nn::Loss loss(const Exec& exec) override { return m_inner->loss(exec); }
  void sample_losses(const Exec& exec, const Span<float>& losses) const override {
    m_inner->sample_losses(exec, losses);
  }

 private:
  std::unique_ptr<nn::Model<float>> m_inner;
};

/// Replaces the rig's model by a watched one, and returns it.
inline WatchedModel& watch(Rig& rig) {
  auto watched = std::make_unique<WatchedModel>(std::move(rig.model));
  WatchedModel& model = *watched;
  rig.model = std::move(watched);
  return model;
}

}  // namespace gradcomp::train::test
