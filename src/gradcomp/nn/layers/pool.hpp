#pragma once
// Pooling: global averages between the last maps and the classifier, and 2x2 maxima between stages.
#include "gradcomp/nn/convolution/conv3x3.hpp"

namespace gradcomp::nn {

/// pooled[image][channel] = mean of x over the pixels, in double.
template <class T>
void global_average_pool(const Exec& exec, const Maps<const T>& x, const Span<T>& pooled);

/// dx = the gradient pooled_gradient / pixels after `behind`, whose shortcut is ignored, because no shortcut starts at
/// the last map. dx has halo 0.
template <class T>
void global_average_pool_backward(const Exec& exec, const Span<const T>& pooled_gradient, const ReluBackward<T>& behind,
                                  const Maps<T>& dx);

/// pooled = maximum of each 2x2 square of x. pooled_z = the element of z, the map before batch norm and ReLU, at the
/// place of this maximum, so that batch norm can form its sums over the pixels with a gradient. Of equal elements, the
/// first in the order of rows is the maximum; NaN counts as a maximum. x has twice the extents of `pooled` (any halo)
/// and `pooled_z`.
template <class T>
void max_pool(const Exec& exec, const Maps<const T>& x, const Maps<const T>& z, const Maps<T>& pooled,
              const Maps<T>& pooled_z);

/// dx = g at the maximum of each 2x2 square of x, and 0 elsewhere. g and dx have halo 0.
template <class T>
void max_pool_backward(const Exec& exec, const Maps<const T>& x, const Maps<const T>& g, const Maps<T>& dx);

/// dx = `gradient` after `behind`. `gradient`: gradient of the input of a fully connected layer,
/// [images][height][width][channels]. dx has halo 0, and may be the same memory.
template <class T>
void flatten_backward(const Exec& exec, const Maps<const T>& gradient, const ReluBackward<T>& behind, const Maps<T>& dx,
                      Path path);

}  // namespace gradcomp::nn
