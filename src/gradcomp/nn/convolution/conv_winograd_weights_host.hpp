#pragma once
// The weight gradients with F(2, 3) (conv_winograd_host.hpp). Its transforms are linear. So a pair of pixels and a row
// of taps need 4 products instead of 6 for the gradients of the 4 kinds of transformed weights, and the gradients of
// the taps are computed from these once, at the end.
#include "gradcomp/nn/convolution/conv_strip_host.hpp"
#include "gradcomp/nn/convolution/conv_winograd_host.hpp"

namespace gradcomp::nn::host {

/// Input channels of a tile of sums.
inline constexpr int channel_tile = vector_registers == 32 ? 8 : 4;

/// Maximum pixels of a strip, whose arithmetic is worth loading and storing the tiles, and maximum elements of its
/// transformed input, which stays in L2.
inline constexpr int gradient_pixels = 256, gradient_limit = 40 * 1024;

/// Rows of an image in one strip; 0 if not even one fits. `channels`: input channels of one thread's part.
inline int gradient_rows(int height, int width, int channels) {
  const int fitting = gradient_limit / (winograd_kinds * width / 2 * channels) - 2;
  return std::max(0, std::min({height, gradient_pixels / width, fitting}));
}

/// Input channels of one thread's part of the work. Its sums for all taps and one panel stay in a core's L2 cache.
/// Other numbers of channels are not divided, so that the taps of a row are contiguous.
inline constexpr int channel_block = 64;
inline int channels_of_part(int channels) { return channels % channel_block == 0 ? channel_block : channels; }

/// Whether F(2, 3) is faster. This needs stride 1, whole pairs and vectors, not too many weights, and at least 64
/// pixels in a strip.
template <class T>
bool winograd_gradient_covers(const Maps<const T>& x, const Maps<const T>& dz, int stride) {
  const bool light = index_t(x.channels) * dz.channels <= 256 * 256;
  return stride == 1 && light && x.width % 2 == 0 && x.channels % Simd<T>::width == 0 &&
         x.channels % channel_tile == 0 &&
         gradient_rows(x.height, x.width, channels_of_part(x.channels)) * x.width >= 64;
}

/// Transforms the pairs of a row of dz, for one panel of its channels, to the second factors of the 4 kinds of
/// products, to[kind][pair][Vectors x width].
template <class T, int Vectors>
void transform_gradient(const T* dz, index_t step, int pairs, T* to, index_t plane) {
  constexpr int width = Simd<T>::width;
  for (int j = 0; j < pairs; ++j, dz += 2 * step, to += Vectors * width) {
    for (int v = 0; v < Vectors; ++v) {
      const Pack<T> left = load(dz + v * width), right = load(dz + step + v * width);
      store(to + v * width, left);
      store(to + plane + v * width, left + right);
      store(to + 2 * plane + v * width, left - right);
      store(to + 3 * plane + v * width, -right);
    }
  }
}

/// Rows [row, row + rows) of images [image, image + images).
struct Place {
  int image, images, row, rows;
};

/// Memory of a strip: the transformed x, and the transformed dz of one panel at a time.
template <class T, int Vectors>
struct StripScratch {
  alignas(vector_bytes) T inputs[gradient_limit];
  alignas(vector_bytes) T factors[winograd_kinds * gradient_pixels / 2 * Vectors * Simd<T>::width];
};

/// Adds the products of one strip to `partial`, or sets it if `resume` is false.
template <class T, int Vectors>
void winograd_strip(const Maps<const T>& x, const Maps<const T>& dz, const Part& part, const Place& at,
                    StripScratch<T, Vectors>& scratch, T* partial, bool resume) {
  constexpr int panel = Vectors * Simd<T>::width;
  const int pairs = x.width / 2, channels = part.last - part.first, co = dz.channels, input_rows = at.rows + 2;
  const index_t row_size = index_t(pairs) * channels, plane = at.images * input_rows * row_size;
  for (int r = 0; r < at.images * input_rows; ++r) {
    transform_row(x.at(at.image + r / input_rows, at.row + r % input_rows - 1, -1) + part.first, x.channels, pairs,
                  channels, scratch.inputs + r * row_size, plane);
  }
  // the input of the next strip, which is prefetched below
  const int last = at.image + at.images - 1, end = at.row + at.rows, rows = at.images * at.rows;
  const T* const x_ahead = x.at(last, end + 1, -1);
  const T* const dz_ahead = dz.at(last, end, -1);
  const index_t slice = rows * x.row_stride() / 12, dz_slice = rows * dz.row_stride() / 12;
  const index_t factor_plane = index_t(rows) * pairs * panel;
  for (int channel = 0; channel < co; channel += panel) {
    for (int r = 0; r < rows; ++r) {
      transform_gradient<T, Vectors>(dz.at(at.image + r / at.rows, at.row + r % at.rows, 0) + channel, co, pairs,
                                     scratch.factors + index_t(r) * pairs * panel, factor_plane);
    }
    for (int tap = 0; tap < 3 * winograd_kinds; ++tap) {
      const int kind = tap / 3, kh = tap % 3;
      if (channel == 0) {
        prefetch(x_ahead + tap * slice, slice);
        prefetch(dz_ahead + tap * dz_slice, dz_slice);
      }
      const T* const inputs = scratch.inputs + kind * plane;
      const T* const factors = scratch.factors + kind * factor_plane;
      const Strip<T> strip{inputs, input_rows * row_size, row_size, channels, at.images, at.rows, pairs, factors};
      T* const to = partial + (index_t(tap) * x.channels + part.first) * co + channel;
      for (int k = 0; k < channels; k += channel_tile) {
        outer_products<T, channel_tile, Vectors>(strip, inputs + kh * row_size + k, to + index_t(k) * co, co, resume);
      }
    }
  }
}

/// Sets partial[kind][kh][ci][co] to the sums over the images of `part`, for its input channels.
template <class T, int Vectors>
void winograd_gradient(const Maps<const T>& x, const Maps<const T>& dz, const Part& part, T* partial) {
  StripScratch<T, Vectors> scratch;
  const int channels = part.last - part.first, rows = gradient_rows(x.height, x.width, channels);
  const int fitting = gradient_limit / (winograd_kinds * (rows + 2) * (x.width / 2) * channels);
  const int images = rows < x.height ? 1 : std::max(1, std::min(fitting, gradient_pixels / (x.height * x.width)));
  for (int image = part.first_image; image < part.last_image; image += images) {
    for (int row = 0; row < x.height; row += rows) {
      const Place at{image, std::min(images, part.last_image - image), row, std::min(rows, x.height - row)};
      winograd_strip(x, dz, part, at, scratch, partial, image > part.first_image || row > 0);
    }
  }
}

/// Sets gradient[kh][kw][ci][co] from the sums of the chunks, which are added in order and in double.
template <class T>
void combine_winograd(const Exec& exec, const T* partials, int chunks, const Span<T>& gradient) {
  constexpr index_t block = 64;
  const index_t plane = static_cast<index_t>(gradient.extent(0)) / 9, blocks = (plane + block - 1) / block;
  T* const out = gradient.data();
  Kokkos::parallel_for(
      "gradcomp::nn::conv3x3_combine_winograd", Kokkos::RangePolicy<Exec>(exec, 0, 3 * blocks), [=](const index_t b) {
        const index_t kh = b / blocks, at = b % blocks * block, length = std::min(block, plane - at);
        double sum[winograd_kinds][block] = {};
        for (int chunk = 0; chunk < chunks; ++chunk) {
          for (int kind = 0; kind < winograd_kinds; ++kind) {
            const T* const partial = partials + ((index_t(chunk) * winograd_kinds + kind) * 3 + kh) * plane + at;
            for (index_t i = 0; i < length; ++i) sum[kind][i] += partial[i];
          }
        }
        T* const to = out + 3 * kh * plane + at;
        for (index_t i = 0; i < length; ++i) {
          const double half = (sum[1][i] + sum[2][i]) / 2;
          to[i] = static_cast<T>(sum[0][i] + half);
          to[plane + i] = static_cast<T>((sum[1][i] - sum[2][i]) / 2);
          to[2 * plane + i] = static_cast<T>(half + sum[3][i]);
        }
      });
}

}  // namespace gradcomp::nn::host
