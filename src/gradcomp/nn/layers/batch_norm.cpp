#include "gradcomp/nn/layers/batch_norm.hpp"

#include "gradcomp/nn/layers/batch_norm_device.hpp"
#include "gradcomp/nn/layers/batch_norm_host.hpp"

namespace gradcomp::nn {
namespace {

/// Calls finish(channel, first, second) with the sums over images of both kinds in sums[images][2][channels].
template <class Finish>
void for_channels(const char* label, const Exec& exec, const Span<const double>& sums, int images, int channels,
                  Path path, const Finish& finish) {
  if (taken(path) == Path::device) return device::for_channels(label, exec, sums, images, channels, finish);
  Kokkos::parallel_for(
      label, IndexRange(exec, 0, channels), KOKKOS_LAMBDA(const index_t c) {
        double first = 0, second = 0;
        for (int image = 0; image < images; ++image) {
          first += sums(index_t(2) * image * channels + c);
          second += sums(index_t(2 * image + 1) * channels + c);
        }
        finish(c, first, second);
      });
}

}  // namespace

template <class T>
void batch_norm_statistics(const Exec& exec, const Span<const double>& sums, int images, index_t pixels,
                           const Span<T>& running_mean, const Span<T>& running_variance,
                           const Statistics<T>& statistics, Path path) {
  const int channels = static_cast<int>(statistics.mean.extent(0));
  const double count = static_cast<double>(images) * static_cast<double>(pixels);
  for_channels(
      "gradcomp::nn::batch_norm_statistics", exec, sums, images, channels, path,
      KOKKOS_LAMBDA(const index_t c, const double sum, const double squares) {
        const double mean = sum / count;
        const double variance = Kokkos::max(squares / count - mean * mean, 0.0);
        const double unbiased = variance * count / Kokkos::max(count - 1, 1.0);
        statistics.mean(c) = static_cast<T>(mean);
        statistics.inverse_deviation(c) = static_cast<T>(1 / Kokkos::sqrt(variance + batch_norm_epsilon));
        if (!Kokkos::isfinite(static_cast<T>(mean)) || !Kokkos::isfinite(static_cast<T>(unbiased))) return;
        running_mean(c) += static_cast<T>(batch_norm_momentum * (mean - running_mean(c)));
        running_variance(c) += static_cast<T>(batch_norm_momentum * (unbiased - running_variance(c)));
      });
}

template <class T>
void batch_norm_running(const Exec& exec, const Span<const T>& running_mean, const Span<const T>& running_variance,
                        const Statistics<T>& statistics) {
  Kokkos::parallel_for(
      "gradcomp::nn::batch_norm_running", IndexRange(exec, 0, statistics.mean.extent(0)),
      KOKKOS_LAMBDA(const index_t c) {
        statistics.mean(c) = running_mean(c);
        const double variance = running_variance(c);
        statistics.inverse_deviation(c) = static_cast<T>(1 / Kokkos::sqrt(variance + batch_norm_epsilon));
      });
}

template <class T>
void batch_norm_apply(const Exec& exec, const Maps<const T>& z, const Statistics<T>& statistics,
                      const Span<const T>& gamma, const Span<const T>& beta, const Shortcut<T>& shortcut,
                      Activation activation, const Maps<T>& out, Path path) {
  if constexpr (device_is_host) {
    if (path == Path::best) {
      return host::batch_norm_apply<T>(exec, z, statistics, gamma.data(), beta.data(), shortcut, activation, out);
    }
  }
  Kokkos::parallel_for(
      "gradcomp::nn::batch_norm_apply", IndexRange(exec, 0, z.count()), KOKKOS_LAMBDA(const index_t i) {
        const Site site(z, i);
        const int c = site.channel;
        T value = (z.data[i] - statistics.mean(c)) * (statistics.inverse_deviation(c) * gamma(c)) + beta(c);
        if (shortcut.source.data != nullptr) {
          const int from = c - (z.channels - shortcut.source.channels) / 2;
          if (from >= 0 && from < shortcut.source.channels) {
            value += shortcut.source.at(site.image, site.row * shortcut.stride, site.column * shortcut.stride)[from];
          }
        }
        const bool cut = activation == Activation::relu && value < T(0);  // false for NaN, which stays
        out.at(site.image, site.row, site.column)[c] = cut ? T(0) : value;
      });
}

template <class T>
void batch_norm_parameter_gradients(const Exec& exec, const Span<const double>& sums, int images,
                                    const Statistics<T>& statistics, const Span<T>& gamma_gradient,
                                    const Span<T>& beta_gradient, Path path) {
  const int channels = static_cast<int>(statistics.mean.extent(0));
  for_channels(
      "gradcomp::nn::batch_norm_parameter_gradients", exec, sums, images, channels, path,
      KOKKOS_LAMBDA(const index_t c, const double sum, const double product) {
        beta_gradient(c) = static_cast<T>(sum);
        gamma_gradient(c) = static_cast<T>(product * statistics.inverse_deviation(c));
      });
}

template <class T>
void batch_norm_backward(const Exec& exec, const Maps<const T>& g, const Maps<const T>& z,
                         const Statistics<T>& statistics, const Span<const T>& gamma,
                         const Span<const T>& gamma_gradient, const Span<const T>& beta_gradient, const Maps<T>& dz,
                         Path path) {
  if constexpr (device_is_host) {
    if (path == Path::best) {
      return host::batch_norm_backward<T>(exec, g, z, statistics, gamma.data(), gamma_gradient.data(),
                                          beta_gradient.data(), dz);
    }
  }
  const T share = T(1) / (static_cast<T>(z.images) * z.height * z.width);
  Kokkos::parallel_for(
      "gradcomp::nn::batch_norm_backward", IndexRange(exec, 0, z.count()), KOKKOS_LAMBDA(const index_t i) {
        const Site site(z, i);
        const int c = site.channel;
        const T deviation = statistics.inverse_deviation(c);
        const T slope = deviation * (gamma_gradient(c) * share);
        const T centred = g.data[i] - beta_gradient(c) * share - (z.data[i] - statistics.mean(c)) * slope;
        dz.at(site.image, site.row, site.column)[c] = gamma(c) * deviation * centred;
      });
}

#define GRADCOMP_INSTANTIATE(T)                                                                                       \
  template void batch_norm_statistics<T>(const Exec&, const Span<const double>&, int, index_t, const Span<T>&,        \
                                         const Span<T>&, const Statistics<T>&, Path);                                 \
  template void batch_norm_running<T>(const Exec&, const Span<const T>&, const Span<const T>&, const Statistics<T>&); \
  template void batch_norm_apply<T>(const Exec&, const Maps<const T>&, const Statistics<T>&, const Span<const T>&,    \
                                    const Span<const T>&, const Shortcut<T>&, Activation, const Maps<T>&, Path);      \
  template void batch_norm_parameter_gradients<T>(const Exec&, const Span<const double>&, int, const Statistics<T>&,  \
                                                  const Span<T>&, const Span<T>&, Path);                              \
  template void batch_norm_backward<T>(const Exec&, const Maps<const T>&, const Maps<const T>&, const Statistics<T>&, \
                                       const Span<const T>&, const Span<const T>&, const Span<const T>&,              \
                                       const Maps<T>&, Path);
GRADCOMP_INSTANTIATE(float)
GRADCOMP_INSTANTIATE(double)
#undef GRADCOMP_INSTANTIATE

}  // namespace gradcomp::nn
