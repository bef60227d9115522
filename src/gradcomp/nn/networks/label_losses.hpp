#pragma once
// The losses of a batch's labels: what the last layer of every model keeps of a forward pass, for loss() and
// sample_losses().
#include <functional>
#include <string>

#include "gradcomp/nn/layers/softmax.hpp"
#include "gradcomp/nn/model.hpp"

namespace gradcomp::nn {

/// Throws Error in the name of `model` unless the batch has a weight for each of its `samples`, or none.
template <class T>
void require_weights(const std::string& model, const Batch<T>& batch, index_t samples);

class LabelLosses {
 public:
  explicit LabelLosses(index_t max_labels);

  /// A forward pass of `samples` samples with `labels_of_each` labels begins. Keeps a copy of `weights`: one per
  /// sample, or none.
  void begin(const Exec& exec, index_t samples, index_t labels_of_each, const Span<const float>& weights);

  /// For its kernels. losses and hits: [samples][labels_of_each], losses without weights. weights: [samples] or empty.
  Span<double> losses() const { return m_losses; }
  Span<Hit> hits() const { return m_hits; }
  Span<const float> weights() const;

  /// Of that pass. Fences `exec`. Throws Error with the line complaint(label) for the first label that was no class.
  Loss loss(const Exec& exec, const std::function<std::string(index_t label)>& complaint);

  /// Model::sample_losses; `model`: its name, for the message of an Error.
  void sample_losses(const Exec& exec, const std::string& model, const Span<float>& losses) const;

 private:
  index_t m_samples = 0, m_labels_of_each = 1;  ///< of the last forward
  bool m_weighted = false;                      ///< in it
  Vector<double> m_losses;
  Vector<Hit> m_hits;
  Vector<float> m_weights;
  Vector<double>::host_mirror_type m_host_losses;
  Vector<Hit>::host_mirror_type m_host_hits;
  Vector<float>::host_mirror_type m_host_weights;
};

}  // namespace gradcomp::nn
