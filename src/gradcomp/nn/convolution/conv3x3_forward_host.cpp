#include "gradcomp/nn/convolution/conv3x3_host.hpp"
#include "gradcomp/nn/convolution/conv_pack_host.hpp"
#include "gradcomp/nn/convolution/conv_winograd_host.hpp"

namespace gradcomp::nn::host {
namespace {

using PerGroup = Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>>;

constexpr int all_taps[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};

/// Stores the result and sums it and its squares, in T along a row and in double over the rows.
template <class T, int Vectors>
struct StoreWithMoments {
  Maps<T> z;
  double* sums;  ///< [images][2][channels], zero at first; null: no sums are wanted
  int image = 0;
  Pack<T> sum[Vectors] = {}, squares[Vectors] = {};

  T* out(int row, int column) const { return z.at(image, row, column); }
  index_t out_step() const { return z.channels; }
  void prefetch(int, int, int, int) const {}

  template <int Pixels>
  [[gnu::always_inline]] void finish(const Pack<T> (&acc)[Pixels][Vectors], int row, int column, int channel) {
    T* const to = out(row, column) + channel;
    for (int v = 0; v < Vectors; ++v) {
      Pack<T> s = sum[v], q = squares[v];  // in registers, because stores of the result may alias the members
      for (int p = 0; p < Pixels; ++p) {
        store(to + p * index_t(z.channels) + v * Simd<T>::width, acc[p][v]);
        s += acc[p][v];
        q += acc[p][v] * acc[p][v];
      }
      sum[v] = s, squares[v] = q;
    }
  }

  void end_row(int channel) {
    constexpr int width = Simd<T>::width;
    double* const of_image = sums == nullptr ? nullptr : sums + index_t(2) * image * z.channels + channel;
    for (int v = 0; v < Vectors; ++v) {
      for (int i = 0; of_image != nullptr && i < width; ++i) {
        of_image[v * width + i] += sum[v][i];
        of_image[z.channels + v * width + i] += squares[v][i];
      }
      sum[v] = squares[v] = Pack<T>{};
    }
  }
};

template <class T, int Vectors>
void forward(const Exec& exec, const Maps<const T>& x, int stride, const Maps<T>& z, const Span<double>& sums,
             const T* packed, bool winograd) {
  const Runs runs{3, 3 * x.channels, x.row_stride(), index_t(stride) * x.channels};
  double* const all_sums = sums.extent(0) > 0 ? sums.data() : nullptr;
  const int per_group = images_per_group(exec, z.images, z.height * z.width);
  const int groups = (z.images + per_group - 1) / per_group;
  Kokkos::parallel_for("gradcomp::nn::conv3x3_forward", PerGroup(exec, 0, groups), [=](const int g) {
    const Group group{g * per_group, std::min((g + 1) * per_group, z.images)};
    const index_t per_image = index_t(2) * z.channels;
    if (all_sums != nullptr) std::fill(all_sums + group.first * per_image, all_sums + group.last * per_image, 0.0);
    StoreWithMoments<T, Vectors> epilogue{z, all_sums};
    if (winograd) return winograd_images<T, Vectors>(group, x, packed, z.channels, epilogue);
    convolve_images<T, Vectors>(group, x.at(0, -1, -1), x.image_stride(), stride * x.row_stride(), packed, runs,
                                z.height, z.width, z.channels, epilogue);
  });
}

}  // namespace

template <class T>
bool covers(int channels) {
  return vectors_of<T>(channels) > 0;
}

template <class T>
void conv3x3_forward(const Exec& exec, const Maps<const T>& x, const T* weights, int stride, const Maps<T>& z,
                     const Span<double>& sums, T* packed) {
  const bool winograd = winograd_covers(x, z.channels, stride);
  if (winograd) {
    pack_winograd(exec, weights, x.channels, z.channels, false, packed);
  } else {
    pack_weights(exec, weights, x.channels, z.channels, all_taps, 9, false, packed);
  }
  if (vectors_of<T>(z.channels) == 2) return forward<T, 2>(exec, x, stride, z, sums, packed, winograd);
  forward<T, 1>(exec, x, stride, z, sums, packed, winograd);
}

#define GRADCOMP_INSTANTIATE(T)                                                                      \
  template bool covers<T>(int);                                                                      \
  template void conv3x3_forward<T>(const Exec&, const Maps<const T>&, const T*, int, const Maps<T>&, \
                                   const Span<double>&, T*);
GRADCOMP_INSTANTIATE(float)
GRADCOMP_INSTANTIATE(double)
#undef GRADCOMP_INSTANTIATE

}  // namespace gradcomp::nn::host
