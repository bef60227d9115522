#pragma once
// The residual networks for small images of He et al. 2016, section 4.2: a 3x3 convolution, three stages of n blocks
// with 16, 32 and 64 channels, global average pooling, a linear classifier; depth 6 n + 2. Shortcuts are option A, so
// ResNet-20 (n = 3) has exactly 269,722 parameters with 10 classes.
#include <vector>

#include "gradcomp/nn/conv_unit.hpp"
#include "gradcomp/nn/model.hpp"
#include "gradcomp/nn/softmax.hpp"

namespace gradcomp::nn {

template <class T>
class ResNet final : public Model<T> {
 public:
  /// `blocks` = n. Images are height x width x 3; both extents must be multiples of 4.
  ResNet(std::string name, int blocks, int height, int width, int max_batch, int classes, Path path);

  const std::string& name() const override { return m_name; }
  const Layout& layout() const override { return m_layout; }
  index_t state_count() const override { return m_state_count; }
  int max_batch() const override { return m_max_batch; }
  int classes() const override { return m_classes; }
  index_t image_size() const override { return index_t(m_height) * m_width * image_channels; }
  double step_flops() const override;

  void initialise(std::uint64_t seed, const HostSpan<T>& parameters, const HostSpan<T>& state) const override;
  void forward(const Exec& exec, const Span<const T>& parameters, const Span<T>& state, const Batch<T>& batch) override;
  void backward(const Exec& exec, const Span<const T>& parameters, const Span<T>& gradient,
                const Ready& ready) override;
  void infer(const Exec& exec, const Span<const T>& parameters, const Span<T>& state, const Batch<T>& batch) override;
  Loss loss(const Exec& exec) override;

 private:
  static constexpr int image_channels = 3;

  void run(const Exec& exec, const Span<const T>& parameters, const Span<T>& state, const Batch<T>& batch,
           bool training);
  Maps<const T> input_of(std::size_t unit) const;
  const Vector<T>& dz_buffer(const ConvUnit<T>& unit) const;

  std::string m_name;
  int m_height, m_width, m_max_batch, m_classes;
  Path m_path;
  Layout m_layout;
  index_t m_state_count = 0;
  std::vector<ConvUnit<T>> m_units;  ///< the stem, then two of each block
  std::size_t m_linear = 0;          ///< index of the classifier's weight in the layout
  int m_images = 0;                  ///< of the last forward

  UnitWorkspace<T> m_workspace;
  std::vector<Vector<T>> m_dz;  ///< one per stage, so that the halo stays zero
  Vector<T> m_input;
  Vector<T> m_pooled, m_pooled_gradient, m_logits, m_logit_gradient;
  Vector<double> m_losses;
  Vector<Hit> m_hits;
  typename Vector<double>::host_mirror_type m_host_losses;
  typename Vector<Hit>::host_mirror_type m_host_hits;
};

}  // namespace gradcomp::nn
