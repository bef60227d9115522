#include "gradcomp/nn/networks/classifier.hpp"

#include <fmt/format.h>

#include "gradcomp/nn/networks/architecture.hpp"

namespace gradcomp::nn {

template <class T>
Classifier<T>::Classifier(Layout& layout, const std::vector<int>& extents, int max_batch)
    : m_features_gradient("gradcomp::nn::features_gradient", index_t(max_batch) * extents.front()),
      m_losses(max_batch) {
  std::size_t segment = layout.segments.size();
  add_linear_layers(layout, extents);
  for (std::size_t i = 1; i < extents.size(); ++i, segment += 2) {
    const index_t count = index_t(max_batch) * extents[i];
    m_layers.push_back({segment, layout.segments[segment].offset, extents[i - 1], extents[i],
                        Vector<T>("gradcomp::nn::linear_result", count),
                        Vector<T>("gradcomp::nn::linear_gradient", count)});
  }
}

template <class T>
void Classifier<T>::forward(const Exec& exec, const Span<const T>& features, const Span<const T>& parameters,
                            const Batch<T>& batch, bool training, const GemmWorkspace<T>& workspace, Path path) {
  m_images = static_cast<int>(batch.size());
  for (std::size_t i = 0; i < m_layers.size(); ++i) {
    const Layer& layer = m_layers[i];
    const index_t weights = layer.in * layer.out;
    linear_forward<T>(exec, shape(layer), input(i, features), subspan(parameters, layer.offset, weights),
                      subspan(parameters, layer.offset + weights, layer.out), i + 1 < m_layers.size(), layer.y,
                      workspace, path);
  }
  m_losses.begin(exec, m_images, 1, batch.weights);
  softmax_cross_entropy<T>(exec, classes(), m_layers.back().y, batch.labels, m_losses.weights(), m_losses.losses(),
                           m_losses.hits(), training ? Span<T>(m_layers.back().gradient) : Span<T>());
}

template <class T>
Span<const T> Classifier<T>::backward(const Exec& exec, const Span<const T>& features, const Span<const T>& parameters,
                                      const Span<T>& gradient, const Ready& ready, const GemmWorkspace<T>& workspace,
                                      Path path) {
  for (std::size_t i = m_layers.size(); i-- > 0;) {
    const Layer& layer = m_layers[i];
    const index_t weights = layer.in * layer.out;
    const Span<const T> x = input(i, features);
    linear_backward_weights<T>(exec, shape(layer), x, layer.gradient, subspan(gradient, layer.offset, weights),
                               subspan(gradient, layer.offset + weights, layer.out), workspace, path);
    if (ready) ready(layer.segment);
    linear_backward_data<T>(exec, shape(layer), layer.gradient, subspan(parameters, layer.offset, weights),
                            i == 0 ? Span<const T>() : x, i == 0 ? m_features_gradient : m_layers[i - 1].gradient,
                            workspace, path);
  }
  return m_features_gradient;
}

template <class T>
Loss Classifier<T>::loss(const Exec& exec, const std::string& name) {
  return m_losses.loss(exec, [&](index_t image) {
    return fmt::format("{}: the label of image {} of the batch is not one of {} classes", name, image, classes());
  });
}

template <class T>
double Classifier<T>::products() const {
  double sum = 0;
  for (const Layer& layer : m_layers) sum += static_cast<double>(layer.in * layer.out);
  return sum;
}

template class Classifier<float>;
template class Classifier<double>;

}  // namespace gradcomp::nn
