#include "gradcomp/nn/layers/image_sums_host.hpp"

#include "gradcomp/nn/simd_host.hpp"

namespace gradcomp::nn::host {
namespace {

/// The sums of the channels [channel, channel + count) of one image. count is at most the vector width.
template <class T>
void sum_channels(const Maps<const T>& a, const Maps<const T>& b, const T* mean, int image, int channel, int count,
                  double* sums) {
  constexpr int width = Simd<T>::width;
  double sum[width] = {}, product[width] = {};
  T centre[width] = {};
  for (int i = 0; mean != nullptr && i < count; ++i) centre[i] = mean[channel + i];
  for (int row = 0; row < a.height; ++row) {
    const T* left = a.at(image, row, 0) + channel;
    const T* right = b.at(image, row, 0) + channel;
    Pack<T> of_row = {}, products = {};
    for (int column = 0; column < a.width; ++column, left += a.channels, right += a.channels) {
      T l[width] = {}, r[width] = {};  // the compiler removes these copies if the vector is whole
      if (count == width) {
        std::memcpy(l, left, sizeof l);
        std::memcpy(r, right, sizeof r);
      } else {
        for (int i = 0; i < count; ++i) l[i] = left[i], r[i] = right[i];
      }
      of_row += load(l);
      products += load(l) * (load(r) - load(centre));
    }
    for (int i = 0; i < width; ++i) {
      sum[i] += of_row[i];
      product[i] += products[i];
    }
  }
  for (int i = 0; i < count; ++i) {
    sums[channel + i] = sum[i];
    sums[a.channels + channel + i] = product[i];
  }
}

}  // namespace

template <class T>
void image_sums(const Exec& exec, const Maps<const T>& a, const Maps<const T>& b, const T* mean, double* sums) {
  Kokkos::parallel_for("gradcomp::nn::image_sums", Kokkos::RangePolicy<Exec>(exec, 0, a.images), [=](const int image) {
    double* const of_image = sums + index_t(2) * image * a.channels;
    for (int channel = 0; channel < a.channels; channel += Simd<T>::width) {
      const int count = a.channels - channel < Simd<T>::width ? a.channels - channel : Simd<T>::width;
      sum_channels<T>(a, b, mean, image, channel, count, of_image);
    }
  });
}

#define GRADCOMP_INSTANTIATE(T) \
  template void image_sums<T>(const Exec&, const Maps<const T>&, const Maps<const T>&, const T*, double*);
GRADCOMP_INSTANTIATE(float)
GRADCOMP_INSTANTIATE(double)
#undef GRADCOMP_INSTANTIATE

}  // namespace gradcomp::nn::host
