#pragma once
// A layer of long short-term memory (Hochreiter and Schmidhuber 1997; forget gates of Gers et al. 2000) over the steps
// of a batch, in PyTorch's and cuDNN's convention: sums of the gates in the order i, f, g, o, no peepholes, a bias for
// the input's product and one for the hidden state's.
//
// Rows are time-major, [steps][sequences]. The products with the input are one matrix product over all rows; only those
// with the hidden state go step by step.
#include <string>

#include "gradcomp/core/layout.hpp"
#include "gradcomp/nn/gemm/gemm.hpp"
#include "gradcomp/nn/sequence_shape.hpp"

namespace gradcomp::nn {

/// What the layers of a model take turns on.
template <class T>
struct LstmWorkspace {
  /// For layers of at most `in` inputs and `units` units.
  LstmWorkspace(const SequenceShape& largest, index_t units);

  GemmWorkspace<T> gemm;
  Vector<T> gate_gradients;  ///< [rows][4 units]
  Vector<T> dh, dc;          ///< [sequences][units], from the step behind
  Vector<T> packed;          ///< the hidden weights in panels
  Vector<T> bias;            ///< the sum of both
  Vector<T> partials;        ///< of column_sums
};

template <class T>
class LstmLayer {
 public:
  /// Adds its tensors, prefix + "input.weight" {in, 4 units}, "hidden.weight" {units, 4 units}, "input.bias" and
  /// "hidden.bias" {4 units}, to the layout.
  LstmLayer(Layout& layout, const std::string& prefix, index_t in, index_t units, const SequenceShape& largest);

  std::size_t segment() const { return m_segment; }  ///< its first
  index_t in() const { return m_in; }
  index_t units() const { return m_units; }

  /// `h` and `c` [sequences][units]: the hidden state in front of the first step, on return that behind the last one.
  void forward(const Exec& exec, const SequenceShape& shape, const Matrix<const T>& x, const Span<const T>& parameters,
               const Span<T>& h, const Span<T>& c, LstmWorkspace<T>& workspace, Path path);

  /// h of all steps of the last forward().
  Matrix<const T> output(const SequenceShape& shape) const;

  /// Gradients of the parameters and, unless dx is empty, of x of the last forward(), from that of output(). The hidden
  /// state in front of the first step counts as a constant (truncated back-propagation).
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
  Vector<T> m_hidden, m_cell;  ///< [1 + steps][sequences][units], the state in front of the first step first
  Vector<T> m_tanh;            ///< tanh of the cell, [rows][units]
};

}  // namespace gradcomp::nn
