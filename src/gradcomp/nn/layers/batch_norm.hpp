#pragma once
// Batch normalisation (Ioffe and Szegedy 2015) with the shortcut and the ReLU that follow it in a residual network. Its
// input contains one partial sum per image. These are added in double: on hosts in the order of the images, on devices
// in an order that depends only on the shapes. So the bits never depend on the number of threads.
#include "gradcomp/nn/maps.hpp"

namespace gradcomp::nn {

inline constexpr double batch_norm_epsilon = 1e-5;
inline constexpr double batch_norm_momentum = 0.1;  ///< weight of the new batch in the running statistics

/// Statistics with which a layer is normalised, [channels] each.
template <class T>
struct Statistics {
  Span<T> mean;
  Span<T> inverse_deviation;  ///< 1 / sqrt(variance + epsilon)
};

/// Computes the statistics of a batch from sums[images][2][channels] (sum of z, sum of z^2) over `pixels` pixels per
/// image. The running mean and the running (unbiased) variance move towards those of the batch by batch_norm_momentum;
/// where the batch's are not finite, they stay, since a mean that is not finite would never recover.
template <class T>
void batch_norm_statistics(const Exec& exec, const Span<const double>& sums, int images, index_t pixels,
                           const Span<T>& running_mean, const Span<T>& running_variance,
                           const Statistics<T>& statistics, Path path);

/// Computes the statistics for evaluation, which are the running ones.
template <class T>
void batch_norm_running(const Exec& exec, const Span<const T>& running_mean, const Span<const T>& running_variance,
                        const Statistics<T>& statistics);

/// Shortcut of a block, "option A" of He et al. 2016 (section 4.2): the input, subsampled by `stride`. If the block has
/// more channels than its input, zeros are added before and after the channels. The shortcut has no parameters.
template <class T>
struct Shortcut {
  Maps<const T> source;  ///< data = null: no shortcut
  int stride = 1;
};

/// What follows the sum of normalised map and shortcut; none: for the batch norm of a projection.
enum class Activation { none, relu };

/// out = activation(gamma (z - mean) inverse_deviation + beta + shortcut). z has halo 0. The halo of `out` does not
/// change.
template <class T>
void batch_norm_apply(const Exec& exec, const Maps<const T>& z, const Statistics<T>& statistics,
                      const Span<const T>& gamma, const Span<const T>& beta, const Shortcut<T>& shortcut,
                      Activation activation, const Maps<T>& out, Path path);

/// Computes gamma_gradient and beta_gradient from sums[images][2][channels] (sum of g, sum of g (z - mean)), where g is
/// the gradient of the result of batch norm.
template <class T>
void batch_norm_parameter_gradients(const Exec& exec, const Span<const double>& sums, int images,
                                    const Statistics<T>& statistics, const Span<T>& gamma_gradient,
                                    const Span<T>& beta_gradient, Path path);

/// Computes dz, the gradient of z, including its part through the statistics of the batch. g and z have halo 0. The
/// halo of dz does not change.
template <class T>
void batch_norm_backward(const Exec& exec, const Maps<const T>& g, const Maps<const T>& z,
                         const Statistics<T>& statistics, const Span<const T>& gamma,
                         const Span<const T>& gamma_gradient, const Span<const T>& beta_gradient, const Maps<T>& dz,
                         Path path);

}  // namespace gradcomp::nn
