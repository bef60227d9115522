#pragma once
// One unit of an LSTM (lstm_layer.hpp) in one step, as every implementation of the layer computes it between its matrix
// products.
#include "gradcomp/nn/exponential.hpp"

namespace gradcomp::nn {

/// The gates: input, forget, candidate, output. They are first the sums of products and biases, and then, after
/// lstm_forward(), activated.
template <class T>
struct LstmGates {
  T i, f, g, o;
};

/// c = f c_before + i g, h = o tanh(c).
template <class T>
struct LstmUnit {
  T c, tanh_c, h;
};

template <class T>
KOKKOS_FORCEINLINE_FUNCTION LstmUnit<T> lstm_forward(LstmGates<T>& gates, T c_before) {
  gates = {logistic(gates.i), logistic(gates.f), hyperbolic_tangent(gates.g), logistic(gates.o)};
  const T c = gates.f * c_before + gates.i * gates.g, tanh_c = hyperbolic_tangent(c);
  return {c, tanh_c, gates.o * tanh_c};
}

/// Gradients of the sums of the gates, from dh, the gradient of h, and dc, the gradient of c through later steps. dc
/// becomes the gradient of c_before.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION LstmGates<T> lstm_backward(const LstmGates<T>& gates, T c_before, T tanh_c, T dh, T& dc) {
  const T whole = dc + dh * gates.o * (1 - tanh_c * tanh_c);
  dc = whole * gates.f;
  return {whole * gates.g * gates.i * (1 - gates.i), whole * c_before * gates.f * (1 - gates.f),
          whole * gates.i * (1 - gates.g * gates.g), dh * tanh_c * gates.o * (1 - gates.o)};
}

}  // namespace gradcomp::nn
