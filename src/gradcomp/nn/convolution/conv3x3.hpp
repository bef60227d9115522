#pragma once
// 3x3 convolution, padding 1, stride 1 or 2, no bias: forward, gradient of the input, gradient of the weights.
// The sums that batch norm needs of each result are formed where the result is still in registers: a sweep of its own
// would cost as much as the arithmetic of batch norm itself.
#include "gradcomp/nn/maps.hpp"

namespace gradcomp::nn {

/// Images whose weight gradients are one partial sum, for results of `pixels` pixels per image. Fixed by the layer's
/// shape alone, so that results do not depend on the number of threads.
constexpr int images_per_chunk(index_t pixels, index_t weights) {
  // small maps under many weights: a partial sum of 8 images would cost more traffic than arithmetic
  const bool heavy = weights >= index_t{1} << 20;
  return heavy && pixels < 64 ? pixels < 16 ? 64 : 32 : 8;
}

/// Scratch of the convolutions of one model, allocated once. Calls on one execution-space instance may share it.
template <class T>
struct ConvWorkspace {
  /// Makes room for a layer from `ci` to `co` channels with results of `pixels` pixels in batches of `images`.
  void reserve(int images, index_t pixels, int ci, int co, Path path);
  Vector<T> packed;    ///< weights in the order in which a host kernel reads them
  Vector<T> partials;  ///< weight gradient of each chunk of images
  Vector<T> columns;   ///< Path::device: what each pixel of a result reads, 9 ci elements
  Vector<T> dense;     ///< Path::device: the gradient of a result without its halo
};

/// z = conv(x, weights). weights: [3][3][ci][co]. x: halo 1, z: halo 0, height(z) = height(x) / stride.
/// `sums`, unless empty: [images][2][co], the sums of z and of z^2 over the pixels of each image.
template <class T>
void conv3x3_forward(const Exec& exec, const Maps<const T>& x, const Span<const T>& weights, int stride,
                     const Maps<T>& z, const Span<double>& sums, ConvWorkspace<T>& workspace, Path path);

/// What happens to the gradient of a map that left a batch norm and a ReLU: the gradient of the shortcut is added, the
/// ReLU's mask applied and the two sums taken from which batch norm's own gradient follows.
template <class T>
struct ReluBackward {
  Maps<const T> activation;  ///< the map itself, after the ReLU; the gradient passes where it is positive
  Maps<const T> z;           ///< before batch norm, halo 0
  Span<const T> mean;        ///< [channels], the batch's mean of z
  Span<double> sums;         ///< out, [images][2][channels]: sum of g and of g (z - mean) over each image
  Maps<const T> shortcut;    ///< gradient behind the shortcut that started at this map; data = null: none
  int shortcut_stride = 1;   ///< 1: same extents; 2: half of them; channels beyond this map's were zero-padding
};

/// dx = ReLU'(conv^T(dz, weights) + shortcut^T). dz: halo 1, dx: halo 0, height(dx) = stride height(dz).
template <class T>
void conv3x3_backward_data(const Exec& exec, const Maps<const T>& dz, const Span<const T>& weights, int stride,
                           const ReluBackward<T>& behind, const Maps<T>& dx, ConvWorkspace<T>& workspace, Path path);

/// gradient = sum over images and pixels of x dz, shaped as the weights: [3][3][ci][co]. x, dz: halo 1.
template <class T>
void conv3x3_backward_weights(const Exec& exec, const Maps<const T>& x, const Maps<const T>& dz, int stride,
                              const Span<T>& gradient, ConvWorkspace<T>& workspace, Path path);

}  // namespace gradcomp::nn
