#pragma once
// The last layers of an image model: fully connected layers, softmax and cross entropy.
#include "gradcomp/nn/layers/linear.hpp"
#include "gradcomp/nn/model.hpp"
#include "gradcomp/nn/networks/label_losses.hpp"

namespace gradcomp::nn {

template <class T>
class Classifier {
 public:
  /// Layers of `extents` (linear_extents() in architecture.hpp) with ReLUs between them. Appends their tensors to
  /// `layout`.
  Classifier(Layout& layout, const std::vector<int>& extents, int max_batch);

  /// Computes loss and hit of each image and, if `training`, the gradient of the logits. features:
  /// [images][extents[0]].
  void forward(const Exec& exec, const Span<const T>& features, const Span<const T>& parameters, const Batch<T>& batch,
               bool training, const GemmWorkspace<T>& workspace, Path path);

  /// Writes the gradients of the parameters, the last layer's first, and calls `ready` for each layer. Returns the
  /// gradient of the features.
  Span<const T> backward(const Exec& exec, const Span<const T>& features, const Span<const T>& parameters,
                         const Span<T>& gradient, const Ready& ready, const GemmWorkspace<T>& workspace, Path path);

  /// Loss of the last forward(). Fences `exec`. If a label was not in [0, classes()), throws Error that begins with
  /// `name`, the name of the model.
  Loss loss(const Exec& exec, const std::string& name);
  const LabelLosses& losses() const { return m_losses; }

  /// Index of its first tensor in the layout.
  std::size_t segment() const { return m_layers.front().segment; }

  /// Multiply-adds per image in the forward pass.
  double products() const;
  int classes() const { return static_cast<int>(m_layers.back().out); }

 private:
  struct Layer {
    std::size_t segment;  ///< index of the weight in the layout; the bias follows it
    index_t offset;       ///< place of the weight among the parameters
    index_t in, out;
    Vector<T> y, gradient;  ///< the result and its gradient
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
