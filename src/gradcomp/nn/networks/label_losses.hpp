#pragma once
// The losses of the labels of a batch. The last layer of every model keeps them for Model::loss() and
// Model::sample_losses().
#include <functional>
#include <string>

#include "gradcomp/nn/layers/softmax.hpp"
#include "gradcomp/nn/model.hpp"

namespace gradcomp::nn {

/// Unless the batch has a weight for each of its `samples` samples, or no weights, throws Error that begins with
/// `model`.
template <class T>
void require_weights(const std::string& model, const Batch<T>& batch, index_t samples);

class LabelLosses {
 public:
  explicit LabelLosses(index_t max_labels);

  /// Begins a forward pass of `samples` samples with `labels_of_each` labels each. Copies `weights`, one per sample or
  /// none.
  void begin(const Exec& exec, index_t samples, index_t labels_of_each, const Span<const float>& weights);

  /// Arrays for the kernels of that pass. losses and hits are [samples][labels_of_each], and losses have no weights.
  /// weights is [samples] or empty.
  Span<double> losses() const { return m_losses; }
  Span<Hit> hits() const { return m_hits; }
  Span<const float> weights() const;

  /// Loss of that pass. Fences `exec`. If a label was Hit::bad_label, throws Error with the text complaint(label) for
  /// the first such label.
  Loss loss(const Exec& exec, const std::function<std::string(index_t label)>& complaint);

  /// Does what Model::sample_losses() does. Errors begin with `model`.
  void sample_losses(const Exec& exec, const std::string& model, const Span<float>& losses) const;

 private:
  index_t m_samples = 0, m_labels_of_each = 1;  ///< those of the last forward pass
  bool m_weighted = false;                      ///< whether the last forward pass had weights
  Vector<double> m_losses;
  Vector<Hit> m_hits;
  Vector<float> m_weights;
  Vector<double>::host_mirror_type m_host_losses;
  Vector<Hit>::host_mirror_type m_host_hits;
  Vector<float>::host_mirror_type m_host_weights;
};

}  // namespace gradcomp::nn
