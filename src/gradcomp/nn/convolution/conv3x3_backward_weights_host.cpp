#include <algorithm>

#include "gradcomp/nn/convolution/conv3x3_host.hpp"
#include "gradcomp/nn/convolution/conv_strip_host.hpp"
#include "gradcomp/nn/convolution/conv_tile_host.hpp"
#include "gradcomp/nn/convolution/conv_winograd_weights_host.hpp"

namespace gradcomp::nn::host {
namespace {

/// Output pixels of a strip, which has rows of one image or of several small ones. Its x and dz stay in a cache, and
/// its arithmetic is worth loading and storing the tiles.
constexpr int strip_pixels = 128;

/// All strips of the panel that begins with the output channel `channel`.
template <class T, int Vectors>
void panel_gradient(const Maps<const T>& x, const Maps<const T>& dz, int stride, const Part& part, int channel,
                    T* partial) {
  constexpr int panel = Vectors * Simd<T>::width;
  T packed[2 * strip_pixels * panel];
  const int strip_rows = std::clamp(strip_pixels / dz.width, 1, dz.height);
  const int strip_columns = std::min(dz.width, 2 * strip_pixels);  // strips of one row may be longer
  const int strip_images = strip_rows < dz.height ? 1 : std::max(1, strip_pixels / (dz.height * dz.width));
  bool resume = false;
  for (int image = part.first_image; image < part.last_image; image += strip_images) {
    const int images = std::min(strip_images, part.last_image - image);
    for (int row = 0; row < dz.height; row += strip_rows) {
      const int rows = std::min(strip_rows, dz.height - row);
      for (int column = 0; column < dz.width; column += strip_columns) {
        const int columns = std::min(strip_columns, dz.width - column);
        T* to = packed;
        for (int r = 0; r < images * rows; ++r) {
          const T* from = dz.at(image + r / rows, row + r % rows, column) + channel;
          for (int c = 0; c < columns; ++c, from += dz.channels, to += panel) std::copy(from, from + panel, to);
        }
        const Strip<T> strip{x.at(image, row * stride - 1, column * stride - 1),
                             x.image_stride(),
                             stride * x.row_stride(),
                             index_t(stride) * x.channels,
                             images,
                             rows,
                             columns,
                             packed};
        strip_panel<T, Vectors>(strip, part, x.row_stride(), x.channels, partial + channel, dz.channels, resume);
        resume = true;
      }
    }
  }
}

/// gradient = sum of the chunks, in order and in double.
template <class T>
void combine(const Exec& exec, const T* partials, int chunks, const Span<T>& gradient) {
  constexpr index_t block = 64;
  const index_t count = static_cast<index_t>(gradient.extent(0));
  T* const out = gradient.data();
  Kokkos::parallel_for("gradcomp::nn::conv3x3_combine", Kokkos::RangePolicy<Exec>(exec, 0, (count + block - 1) / block),
                       [=](const index_t b) {
                         const index_t first = b * block, length = std::min(block, count - first);
                         double sum[block] = {};
                         for (int chunk = 0; chunk < chunks; ++chunk) {
                           const T* partial = partials + chunk * count + first;
                           for (index_t i = 0; i < length; ++i) sum[i] += partial[i];
                         }
                         for (index_t i = 0; i < length; ++i) out[first + i] = static_cast<T>(sum[i]);
                       });
}

}  // namespace

template <class T>
void conv3x3_backward_weights(const Exec& exec, const Maps<const T>& x, const Maps<const T>& dz, int stride,
                              const Span<T>& gradient, T* partials, int per_chunk) {
  const int chunks = (x.images + per_chunk - 1) / per_chunk;
  const bool winograd = winograd_gradient_covers(x, dz, stride);
  const index_t count = index_t(winograd ? 12 : 9) * x.channels * dz.channels;
  const bool two = vectors_of<T>(dz.channels) == 2;
  const int panel = (two ? 2 : 1) * Simd<T>::width;
  const int block = channels_of_part(x.channels), blocks = x.channels / block;
  Kokkos::parallel_for("gradcomp::nn::conv3x3_weight_partials",
                       Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>>(exec, 0, chunks * blocks),
                       [=](const int item) {
                         const int chunk = item / blocks, first = item % blocks * block;
                         const int image = chunk * per_chunk;
                         const Part part{first, first + block, image, std::min(image + per_chunk, x.images)};
                         T* partial = partials + chunk * count;
                         if (winograd && two) return winograd_gradient<T, 2>(x, dz, part, partial);
                         if (winograd) return winograd_gradient<T, 1>(x, dz, part, partial);
                         for (int channel = 0; channel < dz.channels; channel += panel) {
                           if (two) {
                             panel_gradient<T, 2>(x, dz, stride, part, channel, partial);
                           } else {
                             panel_gradient<T, 1>(x, dz, stride, part, channel, partial);
                           }
                         }
                       });
  if (winograd) return combine_winograd(exec, partials, chunks, gradient);
  combine(exec, partials, chunks, gradient);
}

#define GRADCOMP_INSTANTIATE(T)                                                                           \
  template void conv3x3_backward_weights<T>(const Exec&, const Maps<const T>&, const Maps<const T>&, int, \
                                            const Span<T>&, T*, int);
GRADCOMP_INSTANTIATE(float)
GRADCOMP_INSTANTIATE(double)
#undef GRADCOMP_INSTANTIATE

}  // namespace gradcomp::nn::host
