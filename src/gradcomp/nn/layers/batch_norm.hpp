#pragma once
// Batch normalisation (Ioffe and Szegedy 2015) with what follows it in a residual network: the shortcut and the ReLU.
// Sums over the batch come as one partial per image and are combined in double, on hosts in image order, on devices in
// an order that the shapes decide; they never depend on the number of threads.
#include "gradcomp/nn/maps.hpp"

namespace gradcomp::nn {

inline constexpr double batch_norm_epsilon = 1e-5;
inline constexpr double batch_norm_momentum = 0.1;  ///< weight of the new batch in the running statistics

/// Per-channel statistics a layer is normalised with, [channels] each.
template <class T>
struct Statistics {
  Span<T> mean;
  Span<T> inverse_deviation;  ///< 1 / sqrt(variance + epsilon)
};

/// Statistics of a batch from sums[images][2][channels] (sum of z, sum of z^2) over `pixels` pixels of each image.
/// The running mean and (unbiased) variance move towards them by batch_norm_momentum.
template <class T>
void batch_norm_statistics(const Exec& exec, const Span<const double>& sums, int images, index_t pixels,
                           const Span<T>& running_mean, const Span<T>& running_variance,
                           const Statistics<T>& statistics, Path path);

/// Statistics of evaluation mode: the running ones.
template <class T>
void batch_norm_running(const Exec& exec, const Span<const T>& running_mean, const Span<const T>& running_variance,
                        const Statistics<T>& statistics);

/// Identity branch of a block, "option A" of He et al. 2016 (section 4.2): subsampled by `stride`, and with zeros in
/// front of and behind its channels where the block widens them. It has no parameters.
template <class T>
struct Shortcut {
  Maps<const T> source;  ///< data = null: no shortcut
  int stride = 1;
};

/// What follows the sum of normalised map and shortcut. A projection's own batch norm is followed by nothing.
enum class Activation { none, relu };

/// out = activation(gamma (z - mean) inverse_deviation + beta + shortcut). z: halo 0; out: the halo stays untouched.
template <class T>
void batch_norm_apply(const Exec& exec, const Maps<const T>& z, const Statistics<T>& statistics,
                      const Span<const T>& gamma, const Span<const T>& beta, const Shortcut<T>& shortcut,
                      Activation activation, const Maps<T>& out, Path path);

/// gamma_gradient and beta_gradient from sums[images][2][channels] (sum of g, sum of g (z - mean)), where g is the
/// gradient of batch norm's result.
template <class T>
void batch_norm_parameter_gradients(const Exec& exec, const Span<const double>& sums, int images,
                                    const Statistics<T>& statistics, const Span<T>& gamma_gradient,
                                    const Span<T>& beta_gradient, Path path);

/// dz, the gradient of z, through the batch statistics too. g, z: halo 0; dz: the halo stays untouched.
template <class T>
void batch_norm_backward(const Exec& exec, const Maps<const T>& g, const Maps<const T>& z,
                         const Statistics<T>& statistics, const Span<const T>& gamma,
                         const Span<const T>& gamma_gradient, const Span<const T>& beta_gradient, const Maps<T>& dz,
                         Path path);

}  // namespace gradcomp::nn
