#pragma once
// The last layer of a language model: logits of all tokens of a batch, softmax, cross entropy, and their gradient. Also
// of classifiers of sequences, whose rows are one step.
#include "gradcomp/nn/gemm/gemm.hpp"
#include "gradcomp/nn/model.hpp"
#include "gradcomp/nn/networks/label_losses.hpp"

namespace gradcomp::nn {

/// Cross entropy of many classes, in place: each row of `logits` becomes the gradient of 1 / rows x the sum of weight x
/// loss where `with_gradient`, else something of no use. Row r counts for label r, read at labels(r % sequences x steps
/// + r / sequences), as batches hold them ([sequences][steps]), while rows are [steps][sequences]; losses and hits
/// likewise. weights: [sequences], or empty where all are 1; losses are without them.
/// A label outside [0, columns), or a token outside (`tokens` may be empty), gives Hit::bad_label, no loss and no
/// gradient.
template <class T>
void token_cross_entropy(const Exec& exec, const Matrix<T>& logits, const Span<const std::int32_t>& labels,
                         const Span<const std::int32_t>& tokens, const Span<const float>& weights, index_t sequences,
                         bool with_gradient, const Span<double>& losses, const Span<Hit>& hits);

/// Logits = x w + bias with w: {units, vocabulary}, or the embedding's table {vocabulary, units} where the two are tied
/// (Press and Wolf 2017).
template <class T>
class Decoder {
 public:
  Decoder(index_t units, index_t vocabulary, bool tied, index_t max_tokens);

  /// Rows of x: [steps][sequences]. `tokens` as in the batch, for their check alone.
  void forward(const Exec& exec, const Matrix<const T>& x, const Span<const T>& weight, const Span<const T>& bias,
               const Batch<T>& batch, index_t sequences, bool training, const GemmWorkspace<T>& workspace, Path path);

  /// Gradients of weight and bias, reported to `ready` as complete from `segment` on, and then of x, of the last
  /// forward().
  void backward(const Exec& exec, const Matrix<const T>& x, const Span<const T>& weight, const Span<T>& weight_gradient,
                const Span<T>& bias_gradient, const Ready& ready, std::size_t segment, const Matrix<T>& dx,
                const GemmWorkspace<T>& workspace, Path path);

  /// Of the last forward(). Fences; throws Error for a label or token that is no class, in the name of `model`.
  Loss loss(const Exec& exec, const std::string& model);
  const LabelLosses& losses() const { return m_losses; }

 private:
  template <class U>
  Matrix<U> matrix(const Span<U>& weight) const;

  index_t m_units, m_vocabulary;
  bool m_tied;
  index_t m_tokens = 0, m_steps = 1;  ///< of the last forward
  Vector<T> m_logits, m_partials;
  LabelLosses m_losses;
};

}  // namespace gradcomp::nn
