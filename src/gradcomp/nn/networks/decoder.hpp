#pragma once
// The last layer of a language model: logits of all tokens of a batch, softmax, cross entropy, and their gradient.
// Classifiers of sequences use it too, with one step.
#include "gradcomp/nn/gemm/gemm.hpp"
#include "gradcomp/nn/model.hpp"
#include "gradcomp/nn/networks/label_losses.hpp"

namespace gradcomp::nn {

/// Cross entropy of many classes, in place. If `with_gradient`, each row of `logits` becomes the gradient of the sum of
/// weight x loss / rows with respect to it; otherwise the logits are lost. Rows are [steps][sequences], but labels,
/// tokens, losses and hits are [sequences][steps], as in a batch. So row r belongs to label r % sequences x steps + r /
/// sequences. weights: [sequences], or empty if all are 1; they do not change `losses`. `tokens` may be empty. A label
/// or token outside [0, columns) gives Hit::bad_label, loss 0 and gradient 0.
template <class T>
void token_cross_entropy(const Exec& exec, const Matrix<T>& logits, const Span<const std::int32_t>& labels,
                         const Span<const std::int32_t>& tokens, const Span<const float>& weights, index_t sequences,
                         bool with_gradient, const Span<double>& losses, const Span<Hit>& hits);

/// Logits = x w + bias, where w is {units, vocabulary}. If weights are tied, w is the transpose of the embedding's
/// table, {vocabulary, units} (Press and Wolf 2017).
template <class T>
class Decoder {
 public:
  Decoder(index_t units, index_t vocabulary, bool tied, index_t max_tokens);

  /// Computes the losses and, if `training`, the gradient of the logits. Rows of x are [steps][sequences]. Of
  /// batch.tokens, it only checks the range.
  void forward(const Exec& exec, const Matrix<const T>& x, const Span<const T>& weight, const Span<const T>& bias,
               const Batch<T>& batch, index_t sequences, bool training, const GemmWorkspace<T>& workspace, Path path);

  /// Writes the gradients of weight and bias for the last forward(), calls ready(segment), and then writes the gradient
  /// of x.
  void backward(const Exec& exec, const Matrix<const T>& x, const Span<const T>& weight, const Span<T>& weight_gradient,
                const Span<T>& bias_gradient, const Ready& ready, std::size_t segment, const Matrix<T>& dx,
                const GemmWorkspace<T>& workspace, Path path);

  /// Loss of the last forward(). Fences `exec`. If a label or token was not in [0, vocabulary), throws Error that
  /// begins with `model`.
  Loss loss(const Exec& exec, const std::string& model);
  const LabelLosses& losses() const { return m_losses; }

 private:
  template <class U>
  Matrix<U> matrix(const Span<U>& weight) const;

  index_t m_units, m_vocabulary;
  bool m_tied;
  index_t m_tokens = 0, m_steps = 1;  ///< those of the last forward()
  Vector<T> m_logits, m_partials;
  LabelLosses m_losses;
};

}  // namespace gradcomp::nn
