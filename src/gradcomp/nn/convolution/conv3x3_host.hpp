#pragma once
// The host convolutions behind conv3x3.hpp: direct, register-tiled, parallel over groups of images (weight gradients:
// over chunks of images and blocks of input channels), each sum formed by one thread in a fixed order, so the bits do
// not depend on the number of threads. Direct rather than im2col with a matrix product: im2col multiplies the traffic
// by 9. Where the shapes allow, Winograd's F(2, 3) along the rows saves a third of the products. Weights that exceed
// the L1 pass in parts, and each part serves a whole group. Plain pointers are host memory.
#include "gradcomp/nn/convolution/conv3x3.hpp"

namespace gradcomp::nn::host {

/// True when kernels exist for results of this many channels: a multiple of the vector width.
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
