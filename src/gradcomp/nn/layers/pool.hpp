#pragma once
// Pooling: global averages between the last feature maps and the classifier, 2x2 maxima between stages.
#include "gradcomp/nn/convolution/conv3x3.hpp"

namespace gradcomp::nn {

/// pooled[image][channel] = mean of x over the pixels. One thread for each image and channel.
template <class T>
void global_average_pool(const Exec& exec, const Maps<const T>& x, const Span<T>& pooled);

/// dx = ReLU'(pooled_gradient / pixels) with the sums of batch norm (ReluBackward, whose shortcut is not looked at: the
/// last map has none behind it). dx: halo 0.
template <class T>
void global_average_pool_backward(const Exec& exec, const Span<const T>& pooled_gradient, const ReluBackward<T>& behind,
                                  const Maps<T>& dx);

/// Maximum of each 2x2 square of x, with the z that it came from (the map before batch norm and ReLU), so that the sums
/// of batch norm can be taken where the gradient is. Of equals the first in row order counts; NaN is a maximum. Extents
/// of x: twice those of `pooled` (any halo) and `pooled_z`.
template <class T>
void max_pool(const Exec& exec, const Maps<const T>& x, const Maps<const T>& z, const Maps<T>& pooled,
              const Maps<T>& pooled_z);

/// dx = g at the maximum of each 2x2 square of x, 0 elsewhere. g, dx: halo 0.
template <class T>
void max_pool_backward(const Exec& exec, const Maps<const T>& x, const Maps<const T>& g, const Maps<T>& dx);

/// dx = ReLU'(gradient) with the sums of batch norm: in front of a fully connected layer, whose gradient of its input,
/// [images][height][width][channels], is `gradient`. dx: halo 0; may be the same memory.
template <class T>
void flatten_backward(const Exec& exec, const Maps<const T>& gradient, const ReluBackward<T>& behind, const Maps<T>& dx,
                      Path path);

}  // namespace gradcomp::nn
