#pragma once
// The shortcut of option B (He et al. 2016, section 3.3): a 1x1 convolution with a stride, and batch norm, no ReLU.
// The sampled pixels are gathered into a matrix, [pixels][channels], and the convolution is a product of matrices.
#include "gradcomp/nn/convolution/conv_unit.hpp"

namespace gradcomp::nn {

template <class T>
class Projection {
 public:
  /// Input of height x width. Tensors and buffers as those of ConvUnit.
  Projection(Layout& layout, index_t& buffer_offset, const ConvSpec& spec, int max_batch, int height, int width);

  /// Makes room in the workspace for this projection.
  void reserve(UnitWorkspace<T>& workspace, int max_batch) const;

  /// What the block adds to its second unit's result, halo 0. `x`: the block's input.
  Maps<const T> forward(const Exec& exec, const Maps<const T>& x, const Span<const T>& parameters,
                        const Span<T>& buffers, bool training, UnitWorkspace<T>& workspace, Path path) const;

  /// From the gradient `g` of the block's result (behind its ReLU's mask): gradients of the parameters; returns the
  /// gradient of the sampled pixels of the block's input, halo 0, which stays in the workspace.
  Maps<const T> backward(const Exec& exec, const Maps<const T>& g, const Span<const T>& parameters,
                         const Span<T>& gradient, UnitWorkspace<T>& workspace, Path path) const;

  const ConvSpec& spec() const { return m_spec; }
  std::size_t segment() const { return m_segment; }  ///< index of the convolution's weight in the layout
  double products() const {                          ///< multiply-adds of the convolution, per image
    return static_cast<double>(m_spec.weight_count() * m_height * m_width);
  }

 private:
  Maps<T> map(const Vector<T>& buffer, int images, int channels) const {
    return {buffer.data(), images, m_height, m_width, channels, 0};
  }

  ConvSpec m_spec;
  int m_height, m_width;  ///< of the output
  std::size_t m_segment;
  index_t m_offset;
  BatchNormLayer<T> m_norm;
  Vector<T> m_sampled, m_z, m_output;
};

}  // namespace gradcomp::nn
