#include "gradcomp/nn/networks/resnet.hpp"

#include "gradcomp/nn/layers/pool.hpp"

namespace gradcomp::nn {

template <class T>
ResNet<T>::ResNet(std::string name, const ResNetSpec& spec, int height, int width, int max_batch, int classes,
                  Path path)
    : Base(std::move(name), height, width, max_batch, classes, spec.divisor(), path),
      m_pooled("gradcomp::nn::pooled", index_t(max_batch) * spec.last_channels()) {
  m_images = 1;
  for (const ConvSpec& conv : spec.convolutions()) {
    if (!conv.projection) {
      this->add_unit(conv);
      m_projections.emplace_back();
      continue;
    }
    const Maps<const T> input = input_of(m_units.size() - 2);
    m_projections.back() = std::make_unique<Projection<T>>(this->m_layout, this->m_buffer_count, conv, max_batch,
                                                           input.height, input.width);
    m_projections.back()->reserve(m_workspace, max_batch);
    this->m_specs.push_back(conv);
    this->m_projection_products += m_projections.back()->products();
  }
  this->add_classifier(linear_extents(spec, height, width, classes));
}

template <class T>
void ResNet<T>::run(const Exec& exec, const Span<const T>& parameters, const Span<T>& buffers, const Batch<T>& batch,
                    bool training) {
  for (std::size_t u = 0; u < m_units.size(); ++u) {
    Shortcut<T> shortcut;
    this->need(m_units[u].segment());  // in the order of the layout, where a projection follows the units of its block
    if (const Projection<T>* projection = projection_of(u)) {
      this->need(projection->segment());
      shortcut = {projection->forward(exec, input_of(u - 1), parameters, buffers, training, m_workspace, m_path), 1};
    } else if (u > 0 && u % 2 == 0) {  // the second unit of a block
      shortcut = {input_of(u - 1), m_units[u - 1].spec().stride};
    }
    m_units[u].forward(exec, input_of(u), parameters, buffers, training, shortcut, m_workspace, m_path);
  }
  global_average_pool<T>(exec, input_of(m_units.size()), m_pooled);
  this->need(m_classifier->segment());
  m_classifier->forward(exec, m_pooled, parameters, batch, training, m_workspace.gemm, m_path);
}

template <class T>
void ResNet<T>::backward(const Exec& exec, const Span<const T>& parameters, const Span<T>& gradient,
                         const Ready& ready) {
  const Span<const T> pooled_gradient =
      m_classifier->backward(exec, m_pooled, parameters, gradient, ready, m_workspace.gemm, m_path);
  const std::size_t last = m_units.size() - 1;
  global_average_pool_backward<T>(exec, pooled_gradient, m_units[last].behind(m_images, m_workspace),
                                  this->gradient_of(last));
  Maps<const T> projected;  // gradient of the input of the current block's projection
  for (std::size_t u = last + 1; u-- > 0;) {
    if (const Projection<T>* projection = projection_of(u)) {
      projected = projection->backward(exec, this->gradient_of(u), parameters, gradient, m_workspace, m_path);
      if (ready) ready(projection->segment());
    }
    const Maps<T> dz = this->backward_unit(exec, u, parameters, gradient, ready);
    if (u == 0) break;
    ReluBackward<T> behind = m_units[u - 1].behind(m_images, m_workspace);
    if (u % 2 == 1) {  // the input of a block's first unit also goes through the shortcut
      behind.shortcut = projection_of(u + 1) != nullptr ? projected : Maps<const T>(this->gradient_of(u + 1));
      behind.shortcut_stride = m_units[u].spec().stride;
    }
    m_units[u].backward_data(exec, dz, parameters, behind, this->gradient_of(u - 1), m_workspace, m_path);
  }
}

template class ResNet<float>;
template class ResNet<double>;

}  // namespace gradcomp::nn
