#include "gradcomp/nn/conv_unit.hpp"

#include <utility>
#include <vector>

namespace gradcomp::nn {
namespace {

Segment& add_segment(Layout& layout, const std::string& name, std::vector<index_t> shape) {
  layout.add(name, std::move(shape));
  return layout.segments.back();
}

}  // namespace

template <class T>
ConvUnit<T>::ConvUnit(Layout& layout, index_t& state_offset, const std::string& prefix, int number, int max_batch,
                      int height, int width, int ci, int co, int stride)
    : m_height(height / stride),
      m_width(width / stride),
      m_ci(ci),
      m_co(co),
      m_stride(stride),
      m_segment(layout.segments.size()),
      m_state(state_offset),
      m_mean("gradcomp::nn::mean", co),
      m_inverse_deviation("gradcomp::nn::inverse_deviation", co) {
  const std::string suffix = std::to_string(number);
  m_offset = add_segment(layout, prefix + "conv" + suffix + ".weight", {3, 3, ci, co}).offset;
  add_segment(layout, prefix + "bn" + suffix + ".weight", {co});
  add_segment(layout, prefix + "bn" + suffix + ".bias", {co});
  state_offset += 2 * co;
  m_z = Vector<T>("gradcomp::nn::conv_result", conv_result(max_batch).storage());
  m_output = Vector<T>("gradcomp::nn::activation", output(max_batch).storage());
}

template <class T>
void ConvUnit<T>::forward(const Exec& exec, const Maps<const T>& x, const Span<const T>& parameters,
                          const Span<T>& state, bool training, const Shortcut<T>& shortcut, UnitWorkspace<T>& workspace,
                          Path path) {
  const Maps<T> z = conv_result(x.images);
  const Span<T> running_mean = subspan(state, m_state, m_co), running_variance = subspan(state, m_state + m_co, m_co);
  const Span<double> sums = training ? Span<double>(workspace.sums) : Span<double>();
  conv3x3_forward<T>(exec, x, weights(parameters), m_stride, z, sums, workspace.conv, path);
  if (training) {
    batch_norm_statistics<T>(exec, sums, x.images, index_t(m_height) * m_width, running_mean, running_variance,
                             statistics());
  } else {
    batch_norm_running<T>(exec, running_mean, running_variance, statistics());
  }
  const index_t scale = m_offset + weight_count();
  batch_norm_apply<T>(exec, z, statistics(), subspan(parameters, scale, m_co), subspan(parameters, scale + m_co, m_co),
                      shortcut, output(x.images), path);
}

template <class T>
ReluBackward<T> ConvUnit<T>::behind(int images, UnitWorkspace<T>& workspace) const {
  return {output(images), conv_result(images), m_mean, workspace.sums, {}, 1};
}

template <class T>
Maps<T> ConvUnit<T>::gradient_of_output(int images, const Vector<T>& buffer) const {
  return {buffer.data(), images, m_height, m_width, m_co, 0};
}

template <class T>
Maps<T> ConvUnit<T>::backward(const Exec& exec, const Maps<const T>& x, const Maps<const T>& g,
                              const Span<const T>& parameters, const Span<T>& gradient, const Vector<T>& dz_buffer,
                              UnitWorkspace<T>& workspace, Path path) const {
  const index_t scale = m_offset + weight_count();
  const Span<T> scale_gradient = subspan(gradient, scale, m_co), shift_gradient = subspan(gradient, scale + m_co, m_co);
  batch_norm_parameter_gradients<T>(exec, workspace.sums, x.images, statistics(), scale_gradient, shift_gradient);
  const Maps<T> dz{dz_buffer.data(), x.images, m_height, m_width, m_co, 1};
  batch_norm_backward<T>(exec, g, conv_result(x.images), statistics(), subspan(parameters, scale, m_co), scale_gradient,
                         shift_gradient, dz, path);
  conv3x3_backward_weights<T>(exec, x, dz, m_stride, subspan(gradient, m_offset, weight_count()), workspace.conv, path);
  return dz;
}

template <class T>
void ConvUnit<T>::backward_data(const Exec& exec, const Maps<const T>& dz, const Span<const T>& parameters,
                                const ReluBackward<T>& behind, const Maps<T>& dx, UnitWorkspace<T>& workspace,
                                Path path) const {
  conv3x3_backward_data<T>(exec, dz, weights(parameters), m_stride, behind, dx, workspace.conv, path);
}

template class ConvUnit<float>;
template class ConvUnit<double>;

}  // namespace gradcomp::nn
