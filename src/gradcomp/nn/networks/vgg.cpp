#include "gradcomp/nn/networks/vgg.hpp"

#include "gradcomp/nn/layers/pool.hpp"

namespace gradcomp::nn {

template <class T>
Vgg<T>::Vgg(std::string name, const VggSpec& spec, int height, int width, int max_batch, int classes, Path path)
    : Base(std::move(name), height, width, max_batch, classes, spec.divisor(), path) {
  const std::vector<ConvSpec> convolutions = spec.convolutions();
  for (const ConvSpec& conv : convolutions) this->add_unit(conv, &conv == &convolutions.back() ? 0 : 1);
  this->add_classifier(linear_extents(spec, height, width, classes));
}

template <class T>
Span<const T> Vgg<T>::features() const {
  const Maps<const T> last = input_of(m_units.size());
  return Span<const T>(last.data, static_cast<std::size_t>(last.count()));
}

template <class T>
void Vgg<T>::run(const Exec& exec, const Span<const T>& parameters, const Span<T>& buffers, const Batch<T>& batch,
                 bool training) {
  for (std::size_t u = 0; u < m_units.size(); ++u) {
    this->need(m_units[u].segment());
    m_units[u].forward(exec, input_of(u), parameters, buffers, training, {}, m_workspace, m_path);
  }
  this->need(m_classifier->segment());
  m_classifier->forward(exec, features(), parameters, batch, training, m_workspace.gemm, m_path);
}

template <class T>
void Vgg<T>::backward(const Exec& exec, const Span<const T>& parameters, const Span<T>& gradient, const Ready& ready) {
  const Span<const T> features_gradient =
      m_classifier->backward(exec, features(), parameters, gradient, ready, m_workspace.gemm, m_path);
  const std::size_t last = m_units.size() - 1;
  const Maps<T> g = this->gradient_of(last);
  Maps<const T> flat = g;
  flat.data = features_gradient.data();
  flatten_backward<T>(exec, flat, m_units[last].behind(m_images, m_workspace), g, m_path);
  for (std::size_t u = last + 1; u-- > 0;) {
    const Maps<T> dz = this->backward_unit(exec, u, parameters, gradient, ready);
    if (u == 0) break;
    m_units[u].backward_data(exec, dz, parameters, m_units[u - 1].behind(m_images, m_workspace),
                             this->gradient_of(u - 1), m_workspace, m_path);
  }
}

template class Vgg<float>;
template class Vgg<double>;

}  // namespace gradcomp::nn
