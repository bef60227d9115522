#pragma once
// Fully connected layers, y = x w + b, with or without a ReLU behind them: products of matrices (gemm.hpp), from a
// classifier's few hundred weights to the many millions of VGG's hidden layers.
#include "gradcomp/nn/gemm/gemm.hpp"

namespace gradcomp::nn {

/// Extents of a linear layer; row-major arrays x: [batch][in], w: [in][out], b: [out], y: [batch][out].
struct LinearShape {
  index_t batch, in, out;
};

/// y = x w + b, in place through a ReLU where `rectify`. b may be empty: no bias.
template <class T>
void linear_forward(const Exec& exec, const LinearShape& shape, const Span<const T>& x, const Span<const T>& w,
                    const Span<const T>& b, bool rectify, const Span<T>& y, const GemmWorkspace<T>& workspace,
                    Path path);

/// dx = dy w^T. Where x came out of a ReLU, `rectified` is x, and dx is 0 where x is not positive; else it is empty.
template <class T>
void linear_backward_data(const Exec& exec, const LinearShape& shape, const Span<const T>& dy, const Span<const T>& w,
                          const Span<const T>& rectified, const Span<T>& dx, const GemmWorkspace<T>& workspace,
                          Path path);

/// dw = x^T dy; db = column sums of dy, in image order in double. db may be empty: no bias.
template <class T>
void linear_backward_weights(const Exec& exec, const LinearShape& shape, const Span<const T>& x,
                             const Span<const T>& dy, const Span<T>& dw, const Span<T>& db,
                             const GemmWorkspace<T>& workspace, Path path);

}  // namespace gradcomp::nn
