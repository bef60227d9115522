#pragma once
// Convolution, batch norm, shortcut, ReLU: the unit that residual networks of He et al. 2016 repeat.
#include <string>

#include "gradcomp/core/layout.hpp"
#include "gradcomp/nn/batch_norm.hpp"
#include "gradcomp/nn/conv3x3.hpp"

namespace gradcomp::nn {

/// Scratch that the units of a model share; they run one after the other.
template <class T>
struct UnitWorkspace {
  ConvWorkspace<T> conv;
  Vector<double> sums;     ///< [max batch][2][most channels]
  Vector<T> gradients[3];  ///< of unit u (behind its ReLU's mask) in number u % 3; two later ones may still be read
};

template <class T>
class ConvUnit {
 public:
  /// Input of height x width with `ci` channels. Appends weight, scale and shift to `layout` as <prefix>conv<number>
  /// and <prefix>bn<number>; takes 2 co elements of the state from `state_offset` on and moves it behind them.
  ConvUnit(Layout& layout, index_t& state_offset, const std::string& prefix, int number, int max_batch, int height,
           int width, int ci, int co, int stride);

  /// Result of the unit for the first `images` images: halo 1.
  Maps<T> output(int images) const { return {m_output.data(), images, m_height, m_width, m_co, 1}; }

  /// Training mode when `state` is writable (`training`), else evaluation with the running statistics.
  void forward(const Exec& exec, const Maps<const T>& x, const Span<const T>& parameters, const Span<T>& state,
               bool training, const Shortcut<T>& shortcut, UnitWorkspace<T>& workspace, Path path);

  /// What whoever makes the gradient of output() has to do to it, and where it goes; its sums lie in the workspace.
  ReluBackward<T> behind(int images, UnitWorkspace<T>& workspace) const;
  Maps<T> gradient_of_output(int images, const Vector<T>& buffer) const;

  /// From the masked gradient `g` of the output (and its sums): gradients of the parameters, and dz, the gradient of
  /// the convolution's result, in `dz_buffer` (whose halo is zero). Returns dz. `x`: the forward's input.
  Maps<T> backward(const Exec& exec, const Maps<const T>& x, const Maps<const T>& g, const Span<const T>& parameters,
                   const Span<T>& gradient, const Vector<T>& dz_buffer, UnitWorkspace<T>& workspace, Path path) const;

  /// Gradient of the input from dz, masked by the unit in front (`behind`), into dx.
  void backward_data(const Exec& exec, const Maps<const T>& dz, const Span<const T>& parameters,
                     const ReluBackward<T>& behind, const Maps<T>& dx, UnitWorkspace<T>& workspace, Path path) const;

  std::size_t segment() const { return m_segment; }  ///< index of the convolution's weight in the layout
  int stride() const { return m_stride; }
  int height() const { return m_height; }
  int width() const { return m_width; }
  int channels() const { return m_co; }
  index_t weight_count() const { return index_t(9) * m_ci * m_co; }

 private:
  Span<const T> weights(const Span<const T>& parameters) const { return subspan(parameters, m_offset, weight_count()); }
  Statistics<T> statistics() const { return {m_mean, m_inverse_deviation}; }
  Maps<T> conv_result(int images) const { return {m_z.data(), images, m_height, m_width, m_co, 0}; }

  int m_height, m_width;  ///< of the output
  int m_ci, m_co, m_stride;
  std::size_t m_segment;
  index_t m_offset;  ///< of the weight among the parameters; scale and shift follow it
  index_t m_state;   ///< of the running mean; the running variance follows it
  Vector<T> m_z, m_output, m_mean, m_inverse_deviation;
};

}  // namespace gradcomp::nn
