#pragma once
// The end of an image model: fully connected layers, softmax, cross entropy.
#include "gradcomp/nn/layers/linear.hpp"
#include "gradcomp/nn/model.hpp"
#include "gradcomp/nn/networks/label_losses.hpp"

namespace gradcomp::nn {

template <class T>
class Classifier {
 public:
  /// Layers of `extents` (architecture.hpp), ReLUs between them; appends their tensors to `layout`.
  Classifier(Layout& layout, const std::vector<int>& extents, int max_batch);

  /// Loss and hits of each image, with `training` also the gradient of the logits. features: [images][extents[0]].
  void forward(const Exec& exec, const Span<const T>& features, const Span<const T>& parameters, const Batch<T>& batch,
               bool training, const GemmWorkspace<T>& workspace, Path path);

  /// Gradients of the parameters, last layer first, each reported to `ready`. Returns the gradient of the features.
  Span<const T> backward(const Exec& exec, const Span<const T>& features, const Span<const T>& parameters,
                         const Span<T>& gradient, const Ready& ready, const GemmWorkspace<T>& workspace, Path path);

  /// Of the last forward(). Fences `exec`. Throws Error when a label was no class; `name`: the model's, for the
  /// message.
  Loss loss(const Exec& exec, const std::string& name);
  const LabelLosses& losses() const { return m_losses; }

  /// Index of its first tensor.
  std::size_t segment() const { return m_layers.front().segment; }

  /// Multiply-adds of one image, forward.
  double products() const;
  int classes() const { return static_cast<int>(m_layers.back().out); }

 private:
  struct Layer {
    std::size_t segment;  ///< index of the weight in the layout; the bias follows it
    index_t offset;       ///< of the weight among the parameters
    index_t in, out;
    Vector<T> y, gradient;  ///< result and its gradient
  };

  LinearShape shape(const Layer& layer) const { return {m_images, layer.in, layer.out}; }
  Span<const T> input(std::size_t layer, const Span<const T>& features) const {
    return layer == 0 ? features : Span<const T>(m_layers[layer - 1].y);
  }

  std::vector<Layer> m_layers;
  int m_images = 0;
  Vector<T> m_features_gradient;
  LabelLosses m_losses;
};

}  // namespace gradcomp::nn
