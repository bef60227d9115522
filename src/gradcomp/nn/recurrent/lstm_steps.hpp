#pragma once
// The steps of an LSTM layer, behind lstm_layer.hpp: portable, and so on devices, a product by gemm() and one kernel
// for all cells of each step (the products with the input and the weights' gradients take all steps at once); on a
// host, one kernel in which every thread takes some sequences through all steps. Sequences do not meet, so that the
// bits do not depend on how they are shared out.
#include "gradcomp/nn/recurrent/lstm_layer.hpp"

namespace gradcomp::nn {

/// Arrays of a layer's pass; those of the forward pass hold [1 + steps][sequences][units], the others [steps] of them.
template <class T>
struct LstmSteps {
  SequenceShape shape;
  index_t units;
  Matrix<const T> weight;  ///< {units, 4 units}
  T* gates;                ///< forward: the input's products with the biases on the way in, activated on the way out
  T* hidden;
  T* cell;
  T* tanh_cell;
};

/// What backward takes besides.
template <class T>
struct LstmGradients {
  Matrix<const T> dy;
  T* gates;  ///< to be filled
  T* dh;     ///< [sequences][units], zeros on the way in
  T* dc;     ///< likewise
};

namespace portable {

template <class T>
void lstm_forward(const Exec& exec, const LstmSteps<T>& pass, const GemmWorkspace<T>& workspace, Path path);

template <class T>
void lstm_backward(const Exec& exec, const LstmSteps<T>& pass, const LstmGradients<T>& gradients,
                   const GemmWorkspace<T>& workspace, Path path);

}  // namespace portable

namespace host {

/// Elements that lstm_forward and lstm_backward need in `packed`.
template <class T>
index_t lstm_packed_size(index_t units);

template <class T>
void lstm_forward(const Exec& exec, const LstmSteps<T>& pass, T* packed);

template <class T>
void lstm_backward(const Exec& exec, const LstmSteps<T>& pass, const LstmGradients<T>& gradients, T* packed);

}  // namespace host

}  // namespace gradcomp::nn
