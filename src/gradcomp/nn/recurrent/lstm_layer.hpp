#pragma once
// A layer of long short-term memory (LSTM; Hochreiter and Schmidhuber 1997; forget gates of Gers et al. 2000) over the
// steps of a batch, in the convention of PyTorch and cuDNN: the gates are in the order i, f, g, o; there are no
// peepholes; the product with the input has a bias, and that with the hidden state has another one.
//
// Rows are time-major, [steps][sequences]. One matrix product over all rows does the products with the input; only the
// products with the hidden state are done step by step.
#include <string>

#include "gradcomp/core/layout.hpp"
#include "gradcomp/nn/gemm/gemm.hpp"
#include "gradcomp/nn/sequence_shape.hpp"

namespace gradcomp::nn {

/// Scratch that the layers of a model share.
template <class T>
struct LstmWorkspace {
  /// For layers of at most `units` units, and batches of at most `largest`.
  LstmWorkspace(const SequenceShape& largest, index_t units);

  GemmWorkspace<T> gemm;
  Vector<T> gate_gradients;  ///< [rows][4 units]
  Vector<T> dh, dc;          ///< [sequences][units]: gradients of h and c through the next step
  Vector<T> packed;          ///< hosts only: the hidden weights in panels
  Vector<T> bias;            ///< [4 units]: the sum of both biases
  Vector<T> partials;        ///< scratch of column_sums()
};

/// A layer with its parameters and the results of its last forward().
template <class T>
class LstmLayer {
 public:
  /// Adds its tensors, prefix + "input.weight" {in, 4 units}, "hidden.weight" {units, 4 units}, "input.bias" and
  /// "hidden.bias" {4 units}, to the layout.
  LstmLayer(Layout& layout, const std::string& prefix, index_t in, index_t units, const SequenceShape& largest);

  std::size_t segment() const { return m_segment; }  ///< index of its first tensor in the layout
  index_t in() const { return m_in; }
  index_t units() const { return m_units; }

  /// Computes output(). `h` and `c`, [sequences][units]: the hidden state before the first step, and after the call
  /// that after the last step.
  void forward(const Exec& exec, const SequenceShape& shape, const Matrix<const T>& x, const Span<const T>& parameters,
               const Span<T>& h, const Span<T>& c, LstmWorkspace<T>& workspace, Path path);

  /// h in all steps of the last forward(), [rows][units].
  Matrix<const T> output(const SequenceShape& shape) const;

  /// Takes dy, the gradient of output(). Writes the gradients of the parameters for the last forward() and, unless dx
  /// is empty, that of x. The hidden state before the first step counts as a constant (truncated backpropagation).
  void backward(const Exec& exec, const SequenceShape& shape, const Matrix<const T>& x, const Matrix<const T>& dy,
                const Span<const T>& parameters, const Span<T>& gradient, const Matrix<T>& dx,
                LstmWorkspace<T>& workspace, Path path) const;

 private:
  template <class U>
  Matrix<U> tensor(const Span<U>& of, int number) const;

  index_t m_in, m_units;
  std::size_t m_segment;
  Segment m_tensors[4];
  Vector<T> m_gates;           ///< [rows][4 units], activated
  Vector<T> m_hidden, m_cell;  ///< [1 + steps][sequences][units], beginning with the state before the first step
  Vector<T> m_tanh;            ///< [rows][units]: tanh of the cell
};

}  // namespace gradcomp::nn
