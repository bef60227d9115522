#include "gradcomp/nn/convolution/conv_unit.hpp"

#include "gradcomp/nn/layers/pool.hpp"

namespace gradcomp::nn {

template <class T>
ConvUnit<T>::ConvUnit(Layout& layout, index_t& buffer_offset, const ConvSpec& spec, int max_batch, int height,
                      int width, int halo)
    : m_spec(spec),
      m_height(height / spec.stride),
      m_width(width / spec.stride),
      m_halo(halo),
      m_segment(layout.segments.size()),
      m_offset(layout.count()),
      m_norm(spec.out, layout.count() + spec.weight_count(), buffer_offset) {
  add_to(layout, spec);
  m_z = Vector<T>("gradcomp::nn::conv_result", conv_result(max_batch).storage());
  m_activation = Vector<T>("gradcomp::nn::activation", activation(max_batch).storage());
  if (!spec.pooled) return;
  m_pooled = Vector<T>("gradcomp::nn::pooled_activation", pooled(max_batch).storage());
  m_pooled_z = Vector<T>("gradcomp::nn::pooled_conv_result", pooled_z(max_batch).storage());
}

template <class T>
void ConvUnit<T>::reserve(UnitWorkspace<T>& workspace, int max_batch, Path path) const {
  workspace.conv.reserve(max_batch, index_t(m_height) * m_width, m_spec.in, m_spec.out, path);
  const auto sums = static_cast<std::size_t>(2) * max_batch * m_spec.out;
  if (workspace.sums.extent(0) < sums) workspace.sums = Vector<double>("gradcomp::nn::sums", sums);
  const Maps<T> result = conv_result(max_batch);
  const auto grow = [](Vector<T>& buffer, const char* label, index_t count) {
    if (index_t(buffer.extent(0)) < count) buffer = Vector<T>(label, count);
  };
  for (Vector<T>& gradient : workspace.gradients)
    grow(gradient, "gradcomp::nn::map_gradient", output(max_batch).count());
  if (m_spec.pooled) grow(workspace.unpooled, "gradcomp::nn::unpooled_gradient", result.count());
}

template <class T>
void ConvUnit<T>::forward(const Exec& exec, const Maps<const T>& x, const Span<const T>& parameters,
                          const Span<T>& buffers, bool training, const Shortcut<T>& shortcut,
                          UnitWorkspace<T>& workspace, Path path) const {
  const Maps<T> z = conv_result(x.images);
  const Span<double> sums = training ? Span<double>(workspace.sums) : Span<double>();
  conv3x3_forward<T>(exec, x, weights(parameters), m_spec.stride, z, sums, workspace.conv, path);
  m_norm.forward(exec, z, sums, parameters, buffers, training, shortcut, Activation::relu, activation(x.images), path);
  if (m_spec.pooled) max_pool<T>(exec, activation(x.images), z, pooled(x.images), pooled_z(x.images));
}

template <class T>
ReluBackward<T> ConvUnit<T>::behind(int images, const UnitWorkspace<T>& workspace) const {
  // With pooling, sums over the maxima equal the sums over all pixels, because no other pixel has a gradient.
  return {output(images), m_spec.pooled ? pooled_z(images) : conv_result(images), m_norm.mean(), workspace.sums, {}, 1};
}

template <class T>
Maps<T> ConvUnit<T>::gradient_of_output(int images, const Vector<T>& buffer) const {
  const Maps<T> out = output(images);
  return {buffer.data(), images, out.height, out.width, m_spec.out, 0};
}

template <class T>
Maps<T> ConvUnit<T>::backward(const Exec& exec, const Maps<const T>& x, const Maps<const T>& g,
                              const Span<const T>& parameters, const Span<T>& gradient, const Vector<T>& dz_buffer,
                              UnitWorkspace<T>& workspace, Path path) const {
  Maps<const T> full = g;
  if (m_spec.pooled) {
    const Maps<T> unpooled{workspace.unpooled.data(), x.images, m_height, m_width, m_spec.out, 0};
    max_pool_backward<T>(exec, activation(x.images), g, unpooled);
    full = unpooled;
  }
  const Maps<T> dz = conv_gradient(x.images, dz_buffer);
  m_norm.backward(exec, full, conv_result(x.images), workspace.sums, parameters, gradient, dz, path);
  conv3x3_backward_weights<T>(exec, x, dz, m_spec.stride, subspan(gradient, m_offset, m_spec.weight_count()),
                              workspace.conv, path);
  return dz;
}

template <class T>
void ConvUnit<T>::backward_data(const Exec& exec, const Maps<const T>& dz, const Span<const T>& parameters,
                                const ReluBackward<T>& behind, const Maps<T>& dx, UnitWorkspace<T>& workspace,
                                Path path) const {
  conv3x3_backward_data<T>(exec, dz, weights(parameters), m_spec.stride, behind, dx, workspace.conv, path);
}

template class ConvUnit<float>;
template class ConvUnit<double>;

}  // namespace gradcomp::nn
