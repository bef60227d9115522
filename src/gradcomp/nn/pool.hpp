#pragma once
// Global average pooling: what stands between the last feature maps and the classifier.
#include "gradcomp/nn/conv3x3.hpp"

namespace gradcomp::nn {

/// pooled[image][channel] = mean of x over the pixels. One thread for each image and channel.
template <class T>
void global_average_pool(const Exec& exec, const Maps<const T>& x, const Span<T>& pooled);

/// dx = ReLU'(pooled_gradient / pixels) with the sums of batch norm (ReluBackward, whose shortcut is not looked at: the
/// last map has none behind it). dx: halo 0.
template <class T>
void global_average_pool_backward(const Exec& exec, const Span<const T>& pooled_gradient, const ReluBackward<T>& behind,
                                  const Maps<T>& dx);

}  // namespace gradcomp::nn
