#pragma once
// Normalisation of each row by its own mean and variance (Ba et al. 2016).
#include "gradcomp/nn/gemm/gemm.hpp"

namespace gradcomp::nn {

inline constexpr double layer_norm_epsilon = 1e-5;

/// y = scale (x - mean) / sqrt(variance + epsilon) + shift, row by row; scale and shift are [columns]. moments:
/// [rows][2], mean and 1 / sqrt(variance + epsilon), for the way back.
template <class T>
void layer_norm_forward(const Exec& exec, const Matrix<const T>& x, const Span<const T>& scale,
                        const Span<const T>& shift, const Matrix<T>& y, const Span<T>& moments);

/// Adds the gradient of x to dx, or sets it. `products` becomes dy times the normalised x: its column sums are the
/// gradient of scale, those of dy that of shift.
template <class T>
void layer_norm_backward(const Exec& exec, const Matrix<const T>& x, const Span<const T>& scale,
                         const Span<const T>& moments, const Matrix<const T>& dy, bool add, const Matrix<T>& dx,
                         const Matrix<T>& products);

}  // namespace gradcomp::nn
