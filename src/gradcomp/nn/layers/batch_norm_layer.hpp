#pragma once
// A batch norm with its place among the parameters and the buffers, as the units of the image models hold it.
#include "gradcomp/nn/layers/batch_norm.hpp"

namespace gradcomp::nn {

template <class T>
class BatchNormLayer {
 public:
  /// `scale`: place of the scale among the parameters; the shift follows it. Takes 2 `channels` elements of the
  /// buffers, running mean and variance, from `buffer_offset` on and moves it behind them.
  BatchNormLayer(int channels, index_t scale, index_t& buffer_offset);

  /// out = activation(norm(z) + shortcut): with the batch's statistics from `sums` ([images][2][channels], of z and
  /// z^2) when `training`, moving the running ones, else with the running ones.
  void forward(const Exec& exec, const Maps<const T>& z, const Span<const double>& sums,
               const Span<const T>& parameters, const Span<T>& buffers, bool training, const Shortcut<T>& shortcut,
               Activation activation, const Maps<T>& out, Path path) const;

  /// From the gradient `g` of the norm's result and `sums` of g and g (z - mean): gradients of scale and shift, and dz.
  void backward(const Exec& exec, const Maps<const T>& g, const Maps<const T>& z, const Span<const double>& sums,
                const Span<const T>& parameters, const Span<T>& gradient, const Maps<T>& dz, Path path) const;

  const Vector<T>& mean() const { return m_mean; }

 private:
  Statistics<T> statistics() const { return {m_mean, m_inverse_deviation}; }

  int m_channels;
  index_t m_scale, m_buffers;
  Vector<T> m_mean, m_inverse_deviation;
};

}  // namespace gradcomp::nn
