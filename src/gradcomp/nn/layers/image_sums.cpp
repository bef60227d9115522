#include "gradcomp/nn/layers/image_sums.hpp"

#include "gradcomp/nn/layers/image_sums_device.hpp"
#include "gradcomp/nn/layers/image_sums_host.hpp"

namespace gradcomp::nn {

template <class T>
void image_sums(const Exec& exec, const Maps<const T>& a, const Maps<const T>& b, const Span<const T>& mean,
                const Span<double>& sums, Path path) {
  if constexpr (device_is_host) {
    if (path == Path::best) return host::image_sums<T>(exec, a, b, mean.data(), sums.data());
  }
  if (taken(path) == Path::device) return device::image_sums<T>(exec, a, b, mean, sums);
  const int channels = a.channels;
  const bool centred = mean.extent(0) > 0;
  Kokkos::parallel_for(
      "gradcomp::nn::image_sums", IndexRange(exec, 0, index_t(a.images) * channels), KOKKOS_LAMBDA(const index_t i) {
        const int image = static_cast<int>(i / channels), channel = static_cast<int>(i % channels);
        const double centre = centred ? double(mean(channel)) : 0.0;
        double sum = 0, product = 0;
        for (int row = 0; row < a.height; ++row) {
          const T* left = a.at(image, row, 0) + channel;
          const T* right = b.at(image, row, 0) + channel;
          for (index_t p = 0; p < index_t(a.width) * channels; p += channels) {
            sum += left[p];
            product += left[p] * (right[p] - centre);
          }
        }
        sums(index_t(2) * image * channels + channel) = sum;
        sums(index_t(2 * image + 1) * channels + channel) = product;
      });
}

#define GRADCOMP_INSTANTIATE(T)                                                                              \
  template void image_sums<T>(const Exec&, const Maps<const T>&, const Maps<const T>&, const Span<const T>&, \
                              const Span<double>&, Path);
GRADCOMP_INSTANTIATE(float)
GRADCOMP_INSTANTIATE(double)
#undef GRADCOMP_INSTANTIATE

}  // namespace gradcomp::nn
