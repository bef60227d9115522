#pragma once
// Convolution, batch norm, shortcut and ReLU, with maximum pooling if the architecture has it. Residual networks (He et
// al. 2016) and VGG (Simonyan and Zisserman 2015) consist of such units.
#include "gradcomp/nn/convolution/conv3x3.hpp"
#include "gradcomp/nn/gemm/gemm.hpp"
#include "gradcomp/nn/layers/batch_norm_layer.hpp"
#include "gradcomp/nn/networks/architecture.hpp"

namespace gradcomp::nn {

/// Scratch that the units of a model share, because they run one after the other.
template <class T>
struct UnitWorkspace {
  ConvWorkspace<T> conv;
  GemmWorkspace<T> gemm;
  Vector<double> sums;             ///< [max_batch][2][channels], for the unit with most channels
  Vector<double> projection_sums;  ///< the same for the projection of a block
  Vector<T> gradients[3];          ///< [u % 3]: masked gradient of unit u, while those of u + 1 and u + 2 may be in use
  Vector<T> unpooled;              ///< gradient of the input of a pooling
  Vector<T> projection_dz, projection_dx;
};

/// A unit with its place among the parameters and buffers, and the results of its last forward().
template <class T>
class ConvUnit {
 public:
  /// The input has height x width pixels. Appends the tensors of `spec` to `layout`. Takes 2 spec.out elements of the
  /// buffers at `buffer_offset`, and adds their number to it. `halo`: that of the output.
  ConvUnit(Layout& layout, index_t& buffer_offset, const ConvSpec& spec, int max_batch, int height, int width,
           int halo = 1);

  /// Enlarges the workspace for this unit on `path`.
  void reserve(UnitWorkspace<T>& workspace, int max_batch, Path path) const;

  /// Result of the unit for a batch of `images` images.
  Maps<T> output(int images) const { return m_spec.pooled ? pooled(images) : activation(images); }

  /// Computes output(). If `training`, normalises with the statistics of the batch and updates the running ones in
  /// `buffers`; otherwise normalises with the running ones.
  void forward(const Exec& exec, const Maps<const T>& x, const Span<const T>& parameters, const Span<T>& buffers,
               bool training, const Shortcut<T>& shortcut, UnitWorkspace<T>& workspace, Path path) const;

  /// What the function that computes the gradient of output() has to do with it. The sums go to the workspace.
  ReluBackward<T> behind(int images, const UnitWorkspace<T>& workspace) const;
  /// Map for the gradient of output() in the memory of `buffer`, halo 0.
  Maps<T> gradient_of_output(int images, const Vector<T>& buffer) const;

  /// Takes the masked gradient `g` of the output, and its sums from the workspace. Writes the gradients of the
  /// parameters, and dz, the gradient of the convolution's result, to `dz_buffer`, whose halo must be zero. Returns dz.
  /// `x`: the input of the last forward().
  Maps<T> backward(const Exec& exec, const Maps<const T>& x, const Maps<const T>& g, const Span<const T>& parameters,
                   const Span<T>& gradient, const Vector<T>& dz_buffer, UnitWorkspace<T>& workspace, Path path) const;

  /// Writes the gradient of the input to dx, from dz. `behind`: that of the previous unit, whose output the input is.
  void backward_data(const Exec& exec, const Maps<const T>& dz, const Span<const T>& parameters,
                     const ReluBackward<T>& behind, const Maps<T>& dx, UnitWorkspace<T>& workspace, Path path) const;

  /// Map for the gradient of the convolution's result in the memory of `buffer`, halo 1.
  Maps<T> conv_gradient(int images, const Vector<T>& buffer) const {
    return {buffer.data(), images, m_height, m_width, m_spec.out, 1};
  }

  const ConvSpec& spec() const { return m_spec; }
  std::size_t segment() const { return m_segment; }  ///< index of the convolution's weight in the layout
  double products() const {                          ///< multiply-adds of the convolution per image
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
  int m_height, m_width;  ///< extents of the convolution's result
  int m_halo;
  std::size_t m_segment;
  index_t m_offset;  ///< place of the weight among the parameters
  BatchNormLayer<T> m_norm;
  Vector<T> m_z, m_activation, m_pooled, m_pooled_z;
};

}  // namespace gradcomp::nn
