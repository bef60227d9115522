#pragma once
// The steps of an LSTM layer (lstm_layer.hpp). The portable form, which devices use too, has a product by gemm() and
// one kernel for all cells in each step. The host form has one kernel, in which every thread takes some sequences
// through all steps. Sequences are independent, so that the bits do not depend on how threads share them.
#include "gradcomp/nn/recurrent/lstm_layer.hpp"

namespace gradcomp::nn {

/// Arrays of a layer's pass. hidden and cell are [1 + steps][sequences][units] and begin with the state before the
/// first step; gates is [steps][sequences][4 units], and tanh_cell is [steps][sequences][units].
template <class T>
struct LstmSteps {
  SequenceShape shape;
  index_t units;
  Matrix<const T> weight;  ///< {units, 4 units}
  T* gates;                ///< before lstm_forward(): products with the input, plus biases; after it: activated gates
  T* hidden;
  T* cell;
  T* tanh_cell;
};

/// Further arrays of lstm_backward().
template <class T>
struct LstmGradients {
  Matrix<const T> dy;
  T* gates;  ///< output, [steps][sequences][4 units]: gradients of the sums of the gates
  T* dh;     ///< [sequences][units], zeros before the call
  T* dc;     ///< [sequences][units], zeros before the call
};

namespace portable {

template <class T>
void lstm_forward(const Exec& exec, const LstmSteps<T>& pass, const GemmWorkspace<T>& workspace, Path path);

template <class T>
void lstm_backward(const Exec& exec, const LstmSteps<T>& pass, const LstmGradients<T>& gradients,
                   const GemmWorkspace<T>& workspace, Path path);

}  // namespace portable

namespace host {

/// Elements of the scratch `packed` of lstm_forward() and lstm_backward().
template <class T>
index_t lstm_packed_size(index_t units);

template <class T>
void lstm_forward(const Exec& exec, const LstmSteps<T>& pass, T* packed);

template <class T>
void lstm_backward(const Exec& exec, const LstmSteps<T>& pass, const LstmGradients<T>& gradients, T* packed);

}  // namespace host

}  // namespace gradcomp::nn
