#include "gradcomp/nn/layers/batch_norm_layer.hpp"

namespace gradcomp::nn {

template <class T>
BatchNormLayer<T>::BatchNormLayer(int channels, index_t scale, index_t& buffer_offset)
    : m_channels(channels),
      m_scale(scale),
      m_buffers(buffer_offset),
      m_mean("gradcomp::nn::mean", channels),
      m_inverse_deviation("gradcomp::nn::inverse_deviation", channels) {
  buffer_offset += 2 * channels;
}

template <class T>
void BatchNormLayer<T>::forward(const Exec& exec, const Maps<const T>& z, const Span<const double>& sums,
                                const Span<const T>& parameters, const Span<T>& buffers, bool training,
                                const Shortcut<T>& shortcut, Activation activation, const Maps<T>& out,
                                Path path) const {
  const Span<T> running_mean = subspan(buffers, m_buffers, m_channels);
  const Span<T> running_variance = subspan(buffers, m_buffers + m_channels, m_channels);
  if (training) {
    batch_norm_statistics<T>(exec, sums, z.images, index_t(z.height) * z.width, running_mean, running_variance,
                             statistics(), path);
  } else {
    batch_norm_running<T>(exec, running_mean, running_variance, statistics());
  }
  batch_norm_apply<T>(exec, z, statistics(), subspan(parameters, m_scale, m_channels),
                      subspan(parameters, m_scale + m_channels, m_channels), shortcut, activation, out, path);
}

template <class T>
void BatchNormLayer<T>::backward(const Exec& exec, const Maps<const T>& g, const Maps<const T>& z,
                                 const Span<const double>& sums, const Span<const T>& parameters,
                                 const Span<T>& gradient, const Maps<T>& dz, Path path) const {
  const Span<T> scale_gradient = subspan(gradient, m_scale, m_channels);
  const Span<T> shift_gradient = subspan(gradient, m_scale + m_channels, m_channels);
  batch_norm_parameter_gradients<T>(exec, sums, z.images, statistics(), scale_gradient, shift_gradient, path);
  batch_norm_backward<T>(exec, g, z, statistics(), subspan(parameters, m_scale, m_channels), scale_gradient,
                         shift_gradient, dz, path);
}

template class BatchNormLayer<float>;
template class BatchNormLayer<double>;

}  // namespace gradcomp::nn
