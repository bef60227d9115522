#pragma once
// Convolution, batch norm, shortcut, ReLU, and maximum pooling where the architecture asks for it: the unit that
// residual networks (He et al. 2016) and VGG (Simonyan and Zisserman 2015) repeat.
#include "gradcomp/nn/convolution/conv3x3.hpp"
#include "gradcomp/nn/gemm/gemm.hpp"
#include "gradcomp/nn/layers/batch_norm_layer.hpp"
#include "gradcomp/nn/networks/architecture.hpp"

namespace gradcomp::nn {

/// Scratch that the units of a model share; they run one after the other.
template <class T>
struct UnitWorkspace {
  ConvWorkspace<T> conv;
  GemmWorkspace<T> gemm;
  Vector<double> sums;             ///< [max batch][2][most channels]
  Vector<double> projection_sums;  ///< the same of a block's projection
  Vector<T> gradients[3];          ///< of unit u (behind its ReLU's mask) in number u % 3; two later ones may be in use
  Vector<T> unpooled;              ///< gradient in front of a pooling
  Vector<T> projection_dz, projection_dx;
};

template <class T>
class ConvUnit {
 public:
  /// Input of height x width. Appends the tensors of `spec` to `layout`; takes 2 spec.out elements of the buffers from
  /// `buffer_offset` on and moves it behind them. `halo`: of the output.
  ConvUnit(Layout& layout, index_t& buffer_offset, const ConvSpec& spec, int max_batch, int height, int width,
           int halo = 1);

  /// Makes room in the workspace for this unit by `path`.
  void reserve(UnitWorkspace<T>& workspace, int max_batch, Path path) const;

  /// Result of the unit for the first `images` images.
  Maps<T> output(int images) const { return m_spec.pooled ? pooled(images) : activation(images); }

  /// Training mode when `training`, which needs writable buffers, else evaluation with the running statistics.
  void forward(const Exec& exec, const Maps<const T>& x, const Span<const T>& parameters, const Span<T>& buffers,
               bool training, const Shortcut<T>& shortcut, UnitWorkspace<T>& workspace, Path path) const;

  /// What whoever makes the gradient of output() has to do to it, and where it goes; its sums lie in the workspace.
  ReluBackward<T> behind(int images, const UnitWorkspace<T>& workspace) const;
  Maps<T> gradient_of_output(int images, const Vector<T>& buffer) const;

  /// From the masked gradient `g` of the output (and its sums): gradients of the parameters, and dz, the gradient of
  /// the convolution's result, in `dz_buffer` (whose halo is zero). Returns dz. `x`: the forward's input.
  Maps<T> backward(const Exec& exec, const Maps<const T>& x, const Maps<const T>& g, const Span<const T>& parameters,
                   const Span<T>& gradient, const Vector<T>& dz_buffer, UnitWorkspace<T>& workspace, Path path) const;

  /// Gradient of the input from dz, masked by the unit in front (`behind`), into dx.
  void backward_data(const Exec& exec, const Maps<const T>& dz, const Span<const T>& parameters,
                     const ReluBackward<T>& behind, const Maps<T>& dx, UnitWorkspace<T>& workspace, Path path) const;

  /// Gradient of the convolution's result, with a halo.
  Maps<T> conv_gradient(int images, const Vector<T>& buffer) const {
    return {buffer.data(), images, m_height, m_width, m_spec.out, 1};
  }

  const ConvSpec& spec() const { return m_spec; }
  std::size_t segment() const { return m_segment; }  ///< index of the convolution's weight in the layout
  double products() const {                          ///< multiply-adds of the convolution, per image
    return static_cast<double>(m_spec.weight_count() * m_height * m_width);
  }

 private:
  Span<const T> weights(const Span<const T>& parameters) const {
    return subspan(parameters, m_offset, m_spec.weight_count());
  }
  Maps<T> conv_result(int images) const { return {m_z.data(), images, m_height, m_width, m_spec.out, 0}; }
  Maps<T> activation(int images) const {
    return {m_activation.data(), images, m_height, m_width, m_spec.out, m_spec.pooled ? 0 : m_halo};
  }
  Maps<T> pooled(int images) const { return {m_pooled.data(), images, m_height / 2, m_width / 2, m_spec.out, m_halo}; }
  Maps<T> pooled_z(int images) const { return {m_pooled_z.data(), images, m_height / 2, m_width / 2, m_spec.out, 0}; }

  ConvSpec m_spec;
  int m_height, m_width;  ///< of the convolution's result
  int m_halo;
  std::size_t m_segment;
  index_t m_offset;  ///< of the weight among the parameters
  BatchNormLayer<T> m_norm;
  Vector<T> m_z, m_activation, m_pooled, m_pooled_z;
};

}  // namespace gradcomp::nn
