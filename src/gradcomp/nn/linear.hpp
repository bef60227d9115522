#pragma once
// The classifier's fully connected layer, y = x w + b. A few thousand weights: plain kernels, one thread per result,
// sums over the batch in image order in double.
#include "gradcomp/core/types.hpp"

namespace gradcomp::nn {

/// Extents of a linear layer; row-major arrays x: [batch][in], w: [in][out], b: [out], y: [batch][out].
struct LinearShape {
  int batch, in, out;
};

template <class T>
void linear_forward(const Exec& exec, const LinearShape& shape, const Span<const T>& x, const Span<const T>& w,
                    const Span<const T>& b, const Span<T>& y);

/// dx = dy w^T.
template <class T>
void linear_backward_data(const Exec& exec, const LinearShape& shape, const Span<const T>& dy, const Span<const T>& w,
                          const Span<T>& dx);

/// dw = x^T dy, db = column sums of dy.
template <class T>
void linear_backward_weights(const Exec& exec, const LinearShape& shape, const Span<const T>& x,
                             const Span<const T>& dy, const Span<T>& dw, const Span<T>& db);

}  // namespace gradcomp::nn
