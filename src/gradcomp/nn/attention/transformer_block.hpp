#pragma once
// A block of a Transformer with normalisation in front of its two parts (pre-norm, as GPT-2: Radford et al. 2019):
//   y = x + dropout(output(attention(input(norm1(x)))))
//   z = y + dropout(output(gelu(input(norm2(y)))))
#include "gradcomp/nn/attention/attention.hpp"
#include "gradcomp/nn/layers/affine.hpp"
#include "gradcomp/nn/layers/dropout.hpp"
#include "gradcomp/nn/layers/layer_norm.hpp"

namespace gradcomp::nn {

/// Row normalisation with its parameters, its result and what its way back needs.
template <class T>
class NormUnit {
 public:
  /// Adds prefix + "weight" {units} and prefix + "bias" {units} to the layout.
  NormUnit(Layout& layout, const std::string& prefix, index_t units, index_t max_rows);

  void forward(const Exec& exec, const Matrix<const T>& x, const Span<const T>& parameters);
  Matrix<const T> output(index_t rows) const { return Matrix<const T>::dense(m_output.data(), rows, m_weight.count); }

  /// Gradients of the parameters; adds that of x to dx, or sets it. products: scratch as large as dx.
  void backward(const Exec& exec, const Matrix<const T>& x, const Matrix<const T>& dy, const Span<const T>& parameters,
                const Span<T>& gradient, bool add, const Matrix<T>& dx, const Matrix<T>& products,
                const Span<T>& partials) const;

 private:
  Segment m_weight, m_bias;
  Vector<T> m_output, m_moments;
};

/// What the blocks of a model take turns on.
template <class T>
struct TransformerWorkspace {
  TransformerWorkspace(const AttentionShape& largest);

  GemmWorkspace<T> gemm;
  Vector<T> wide;      ///< [rows][4 units]: gradients of the MLP's hidden layer, of q, k and v
  Vector<T> rows[2];   ///< [rows][units]
  Vector<T> weights;   ///< gradients of the attention's weights
  Vector<T> partials;  ///< of column_sums
};

template <class T>
class TransformerBlock {
 public:
  TransformerBlock(Layout& layout, const std::string& prefix, const AttentionShape& largest);

  std::size_t segment() const { return m_segment; }  ///< its first
  index_t products() const;                          ///< multiply-adds of a row in its linear layers

  /// z = block(x). `dropout`: of its first part, that of the second is the next layer's; rate 0: none.
  void forward(const Exec& exec, const AttentionShape& shape, const Matrix<const T>& x, const Span<const T>& parameters,
               const Dropout& dropout, const Matrix<T>& z, TransformerWorkspace<T>& workspace, Path path);

  /// Gradients of the parameters of the last forward(), and, in place of that of z, that of x.
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
  Vector<T> m_hidden, m_activated;  ///< of the MLP
};

}  // namespace gradcomp::nn
