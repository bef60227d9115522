#pragma once
// The portable convolutions of conv3x3.hpp (same arguments): one thread per element of the result, any number of
// channels, any device. Layers for which there are no host kernels use them, and tests compare all others with them.
#include "gradcomp/nn/convolution/conv3x3.hpp"

namespace gradcomp::nn::portable {

template <class T>
void conv3x3_forward(const Exec& exec, const Maps<const T>& x, const Span<const T>& weights, int stride,
                     const Maps<T>& z, const Span<double>& sums);

template <class T>
void conv3x3_backward_data(const Exec& exec, const Maps<const T>& dz, const Span<const T>& weights, int stride,
                           const ReluBackward<T>& behind, const Maps<T>& dx);

/// `partials`: 9 ci co elements for each chunk of `per_chunk` images.
template <class T>
void conv3x3_backward_weights(const Exec& exec, const Maps<const T>& x, const Maps<const T>& dz, int stride,
                              const Span<T>& gradient, const Span<T>& partials, int per_chunk);

}  // namespace gradcomp::nn::portable
