#pragma once
// A block of a Transformer with normalisation before each of its two parts (pre-norm, as in GPT-2, Radford et al.
// 2019):
//   y = x + dropout(output(attention(input(norm1(x)))))
//   z = y + dropout(output(gelu(input(norm2(y)))))
#include "gradcomp/nn/attention/attention.hpp"
#include "gradcomp/nn/layers/affine.hpp"
#include "gradcomp/nn/layers/dropout.hpp"
#include "gradcomp/nn/layers/layer_norm.hpp"

namespace gradcomp::nn {

/// Layer normalisation with its parameters, its result and the moments that backward() needs.
template <class T>
class NormUnit {
 public:
  /// Adds prefix + "weight" {units} and prefix + "bias" {units} to the layout.
  NormUnit(Layout& layout, const std::string& prefix, index_t units, index_t max_rows);

  void forward(const Exec& exec, const Matrix<const T>& x, const Span<const T>& parameters);
  Matrix<const T> output(index_t rows) const { return Matrix<const T>::dense(m_output.data(), rows, m_weight.count); }

  /// Writes the gradients of the parameters. If `add`, adds the gradient of x to dx; otherwise sets dx. products:
  /// scratch of the same size as dx. partials: scratch of column_sums().
  void backward(const Exec& exec, const Matrix<const T>& x, const Matrix<const T>& dy, const Span<const T>& parameters,
                const Span<T>& gradient, bool add, const Matrix<T>& dx, const Matrix<T>& products,
                const Span<T>& partials) const;

 private:
  Segment m_weight, m_bias;
  Vector<T> m_output, m_moments;
};

/// Scratch that the blocks of a model share. `largest`: the largest batch.
template <class T>
struct TransformerWorkspace {
  TransformerWorkspace(const AttentionShape& largest);

  GemmWorkspace<T> gemm;
  Vector<T> wide;      ///< [rows][4 units]: gradients of the hidden layer, or of q, k and v
  Vector<T> rows[2];   ///< [rows][units]
  Vector<T> weights;   ///< gradients of the attention's weights
  Vector<T> partials;  ///< scratch of column_sums()
};

/// A block with its parameters and the results of its last forward(). `mlp` in names of parameters: its second part, a
/// multilayer perceptron with one hidden layer.
template <class T>
class TransformerBlock {
 public:
  TransformerBlock(Layout& layout, const std::string& prefix, const AttentionShape& largest);

  std::size_t segment() const { return m_segment; }  ///< index of its first tensor in the layout
  index_t products() const;                          ///< multiply-adds per row in its linear layers

  /// z = block(x). `dropout` is that of the first part; the second part uses the next layer number. Rate 0: no dropout.
  void forward(const Exec& exec, const AttentionShape& shape, const Matrix<const T>& x, const Span<const T>& parameters,
               const Dropout& dropout, const Matrix<T>& z, TransformerWorkspace<T>& workspace, Path path);

  /// Writes the gradients of the parameters for the last forward(). Turns dx from the gradient of z into that of x.
  void backward(const Exec& exec, const AttentionShape& shape, const Matrix<const T>& x,
                const Span<const T>& parameters, const Span<T>& gradient, const Dropout& dropout, const Matrix<T>& dx,
                TransformerWorkspace<T>& workspace, Path path) const;

 private:
  std::size_t m_segment;
  NormUnit<T> m_norm1;
  Affine<T> m_attention_input, m_attention_output;
  NormUnit<T> m_norm2;
  Affine<T> m_mlp_input, m_mlp_output;
  Vector<T> m_qkv, m_weights, m_attended;
  Vector<T> m_between;              ///< y
  Vector<T> m_hidden, m_activated;  ///< the hidden layer before and after gelu
};

}  // namespace gradcomp::nn
