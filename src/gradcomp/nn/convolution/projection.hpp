#pragma once
// The shortcut "option B" (He et al. 2016, section 3.3): a 1x1 convolution with a stride, then batch norm, without a
// ReLU. The sampled pixels are gathered into a matrix, [pixels][channels], so that the convolution is a product of
// matrices.
#include "gradcomp/nn/convolution/conv_unit.hpp"

namespace gradcomp::nn {

/// A projection with its place among the parameters and buffers, and the results of its last forward().
template <class T>
class Projection {
 public:
  /// The input has height x width pixels. `layout`, `buffer_offset` and `spec`: as for ConvUnit.
  Projection(Layout& layout, index_t& buffer_offset, const ConvSpec& spec, int max_batch, int height, int width);

  /// Enlarges the workspace for this projection.
  void reserve(UnitWorkspace<T>& workspace, int max_batch) const;

  /// Returns what the block adds to the result of its second unit, halo 0. `x`: the input of the block.
  Maps<const T> forward(const Exec& exec, const Maps<const T>& x, const Span<const T>& parameters,
                        const Span<T>& buffers, bool training, UnitWorkspace<T>& workspace, Path path) const;

  /// Takes the gradient `g` of the block's result, to which the mask of its ReLU was applied. Writes the gradients of
  /// the parameters, and returns the gradient of the sampled pixels of the block's input, halo 0, in the workspace.
  Maps<const T> backward(const Exec& exec, const Maps<const T>& g, const Span<const T>& parameters,
                         const Span<T>& gradient, UnitWorkspace<T>& workspace, Path path) const;

  const ConvSpec& spec() const { return m_spec; }
  std::size_t segment() const { return m_segment; }  ///< index of the convolution's weight in the layout
  double products() const {                          ///< multiply-adds of the convolution per image
    return static_cast<double>(m_spec.weight_count() * m_height * m_width);
  }

 private:
  Maps<T> map(const Vector<T>& buffer, int images, int channels) const {
    return {buffer.data(), images, m_height, m_width, channels, 0};
  }

  ConvSpec m_spec;
  int m_height, m_width;  ///< extents of the output
  std::size_t m_segment;
  index_t m_offset;
  BatchNormLayer<T> m_norm;
  Vector<T> m_sampled, m_z, m_output;
};

}  // namespace gradcomp::nn
