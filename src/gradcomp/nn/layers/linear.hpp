#pragma once
// Fully connected layers, y = x w + b, with or without a ReLU after them, by products of matrices (gemm.hpp).
#include "gradcomp/nn/gemm/gemm.hpp"

namespace gradcomp::nn {

/// Extents of a linear layer. Its arrays are x: [batch][in], w: [in][out], b: [out], y: [batch][out].
struct LinearShape {
  index_t batch, in, out;
};

/// y = x w + b, with a ReLU if `rectify`. b is empty if there is no bias.
template <class T>
void linear_forward(const Exec& exec, const LinearShape& shape, const Span<const T>& x, const Span<const T>& w,
                    const Span<const T>& b, bool rectify, const Span<T>& y, const GemmWorkspace<T>& workspace,
                    Path path);

/// dx = dy w^T. If x is the result of a ReLU, `rectified` is x, and dx is 0 where x is 0; otherwise `rectified` is
/// empty.
template <class T>
void linear_backward_data(const Exec& exec, const LinearShape& shape, const Span<const T>& dy, const Span<const T>& w,
                          const Span<const T>& rectified, const Span<T>& dx, const GemmWorkspace<T>& workspace,
                          Path path);

/// dw = x^T dy; db = sums of the columns of dy, in order and in double. db is empty if there is no bias.
template <class T>
void linear_backward_weights(const Exec& exec, const LinearShape& shape, const Span<const T>& x,
                             const Span<const T>& dy, const Span<T>& dw, const Span<T>& db,
                             const GemmWorkspace<T>& workspace, Path path);

}  // namespace gradcomp::nn
