#pragma once
// 3x3 convolution with padding 1, stride 1 or 2 and no bias: forward pass, gradient of the input, gradient of the
// weights. The sums that batch norm needs are formed while a result is still in registers. A separate pass for them
// would cost as much as the arithmetic of batch norm itself. ci and co: numbers of input and output channels.
#include "gradcomp/nn/maps.hpp"

namespace gradcomp::nn {

/// Images whose weight gradients form one partial sum, for results of `pixels` pixels per image. The number depends
/// only on the layer's shape, so that results do not depend on the number of threads.
constexpr int images_per_chunk(index_t pixels, index_t weights) {
  // With small maps and many weights, a partial sum of 8 images would cost more memory traffic than arithmetic.
  const bool heavy = weights >= index_t{1} << 20;
  return heavy && pixels < 64 ? pixels < 16 ? 64 : 32 : 8;
}

/// Scratch of the convolutions of a model, allocated once. Calls on the same execution space instance can share it.
template <class T>
struct ConvWorkspace {
  /// Enlarges it for a layer from `ci` to `co` channels with results of `pixels` pixels in batches of `images`.
  void reserve(int images, index_t pixels, int ci, int co, Path path);
  Vector<T> packed;    ///< weights in the order in which a host kernel reads them
  Vector<T> partials;  ///< weight gradient of each chunk of images
  Vector<T> columns;   ///< only for Path::device: the 9 ci elements that each pixel of a result reads
  Vector<T> dense;     ///< only for Path::device: the gradient of a result without its halo
};

/// z = conv(x, weights). weights: [3][3][ci][co]. x has halo 1, z has halo 0, and height(z) = height(x) / stride. If
/// `sums` is not empty, it gets the sums of z and of z^2 over the pixels of each image, [images][2][co].
template <class T>
void conv3x3_forward(const Exec& exec, const Maps<const T>& x, const Span<const T>& weights, int stride,
                     const Maps<T>& z, const Span<double>& sums, ConvWorkspace<T>& workspace, Path path);

/// What to do with the gradient of a map that is the result of batch norm and a ReLU: add the gradient of the shortcut,
/// apply the mask of the ReLU, and form the two sums from which the gradient of batch norm follows.
template <class T>
struct ReluBackward {
  Maps<const T> activation;  ///< the map after the ReLU; the gradient passes where the map is positive
  Maps<const T> z;           ///< the map before batch norm, halo 0
  Span<const T> mean;        ///< [channels]: mean of z over the batch
  Span<double> sums;         ///< output, [images][2][channels]: sums of the masked gradient g and of g (z - mean)
  Maps<const T> shortcut;    ///< gradient of the result of the shortcut that starts at this map; data = null: none
  int shortcut_stride = 1;   ///< 1: same extents as this map; 2: half of them. Its additional channels were padding
};

/// dx = the gradient conv^T(dz, weights) after `behind`. dz has halo 1, dx has halo 0, and height(dx) = stride
/// height(dz).
template <class T>
void conv3x3_backward_data(const Exec& exec, const Maps<const T>& dz, const Span<const T>& weights, int stride,
                           const ReluBackward<T>& behind, const Maps<T>& dx, ConvWorkspace<T>& workspace, Path path);

/// gradient = sum of x dz over images and pixels, with the shape of the weights, [3][3][ci][co]. x and dz have halo 1.
template <class T>
void conv3x3_backward_weights(const Exec& exec, const Maps<const T>& x, const Maps<const T>& dz, int stride,
                              const Span<T>& gradient, ConvWorkspace<T>& workspace, Path path);

}  // namespace gradcomp::nn
