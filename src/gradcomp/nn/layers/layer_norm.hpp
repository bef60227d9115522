#pragma once
// Layer normalisation: each row is normalised with its own mean and variance (Ba et al. 2016).
#include "gradcomp/nn/gemm/gemm.hpp"

namespace gradcomp::nn {

inline constexpr double layer_norm_epsilon = 1e-5;

/// y = scale (x - mean) / sqrt(variance + epsilon) + shift, row by row, with scale and shift [columns]. Also writes
/// moments, [rows][2], mean and 1 / sqrt(variance + epsilon), which layer_norm_backward() needs.
template <class T>
void layer_norm_forward(const Exec& exec, const Matrix<const T>& x, const Span<const T>& scale,
                        const Span<const T>& shift, const Matrix<T>& y, const Span<T>& moments);

/// If `add`, adds the gradient of x to dx; otherwise sets dx. Sets `products` to dy times the normalised x. The column
/// sums of `products` are the gradient of scale, and those of dy the gradient of shift.
template <class T>
void layer_norm_backward(const Exec& exec, const Matrix<const T>& x, const Span<const T>& scale,
                         const Span<const T>& moments, const Matrix<const T>& dy, bool add, const Matrix<T>& dx,
                         const Matrix<T>& products);

}  // namespace gradcomp::nn
