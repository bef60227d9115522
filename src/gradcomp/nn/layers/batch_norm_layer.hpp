#pragma once
// A batch norm with its place among the parameters and the buffers. The units of the image models contain it.
#include "gradcomp/nn/layers/batch_norm.hpp"

namespace gradcomp::nn {

template <class T>
class BatchNormLayer {
 public:
  /// `scale`: place of the scale among the parameters; the shift follows it. Takes 2 channels elements of the buffers
  /// at `buffer_offset` for the running mean and variance, and adds their number to it.
  BatchNormLayer(int channels, index_t scale, index_t& buffer_offset);

  /// out = activation(norm(z) + shortcut). If `training`, normalises with the statistics of the batch, from `sums` of z
  /// and z^2, [images][2][channels], and updates the running ones; otherwise normalises with the running ones.
  void forward(const Exec& exec, const Maps<const T>& z, const Span<const double>& sums,
               const Span<const T>& parameters, const Span<T>& buffers, bool training, const Shortcut<T>& shortcut,
               Activation activation, const Maps<T>& out, Path path) const;

  /// Takes the gradient `g` of the norm's result, and `sums` of g and of g (z - mean), [images][2][channels]. Writes
  /// the gradients of scale and shift, and dz, the gradient of z.
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
