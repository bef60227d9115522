#pragma once
// The convolutions of conv3x3.hpp for hosts: direct kernels with tiles in registers. They are parallel over groups of
// images; weight gradients are parallel over chunks of images and blocks of input channels. One thread forms each sum
// in a fixed order, so that the bits do not depend on the number of threads. im2col with a matrix product would
// multiply the memory traffic by 9. If the shapes allow it, Winograd's F(2, 3) along the rows saves a third of the
// products. Weights larger than the L1 cache are used in parts, and a thread uses each part for all images of a group.
// Plain pointers point to host memory.
#include "gradcomp/nn/convolution/conv3x3.hpp"

namespace gradcomp::nn::host {

/// Whether there are kernels for results with this number of channels: it must be a multiple of the vector width.
template <class T>
bool covers(int channels);

/// `packed`: 12 ci co elements of scratch.
template <class T>
void conv3x3_forward(const Exec& exec, const Maps<const T>& x, const T* weights, int stride, const Maps<T>& z,
                     const Span<double>& sums, T* packed);

/// `packed`: 12 ci co elements of scratch.
template <class T>
void conv3x3_backward_data(const Exec& exec, const Maps<const T>& dz, const T* weights, int stride,
                           const ReluBackward<T>& behind, const Maps<T>& dx, T* packed);

/// `partials`: 12 ci co elements of scratch for each chunk of `per_chunk` images.
template <class T>
void conv3x3_backward_weights(const Exec& exec, const Maps<const T>& x, const Maps<const T>& dz, int stride,
                              const Span<T>& gradient, T* partials, int per_chunk);

}  // namespace gradcomp::nn::host
