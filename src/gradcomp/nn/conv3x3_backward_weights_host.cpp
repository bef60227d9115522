#include <algorithm>

#include "gradcomp/nn/conv3x3_host.hpp"
#include "gradcomp/nn/conv_tile_host.hpp"

namespace gradcomp::nn::host {
namespace {

/// Output pixels of a strip: as many rows as keep its x and dz in a 32 KiB L1, yet enough to pay for moving the tiles.
constexpr int strip_pixels = 128;

/// Taps (kw, ci) of a tile; x Vectors accumulators.
constexpr int tall = vector_registers == 32 ? 8 : 6;

/// A strip of rows, with the panel of dz that the tiles multiply copied to [pixel][Vectors x width]: its own rows would
/// be 256 bytes apart at 64 channels and share a quarter of the cache's sets.
template <class T>
struct Strip {
  const T* x;  ///< first tap of the first pixel
  index_t row_step, pixel_step;
  int rows, columns;
  const T* dz;
};

/// partial[k][v] (k < Tall, rows `co` apart) += sum over the strip's pixels of x[k] dz[v].
template <class T, int Tall, int Vectors>
[[gnu::always_inline]] inline void outer_products(const Strip<T>& strip, const T* x, T* partial, int co, bool resume) {
  constexpr int width = Simd<T>::width;
  Pack<T> acc[Tall][Vectors] = {};
  if (resume) {
    for (int k = 0; k < Tall; ++k) {
      for (int v = 0; v < Vectors; ++v) acc[k][v] = load(partial + index_t(k) * co + v * width);
    }
  }
  const T* dz = strip.dz;
  for (int row = 0; row < strip.rows; ++row) {
    const T* pixel = x + row * strip.row_step;
#pragma GCC unroll 2
    for (int column = 0; column < strip.columns; ++column, pixel += strip.pixel_step, dz += Vectors * width) {
      Pack<T> d[Vectors];
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) d[v] = load(dz + v * width);
#pragma GCC unroll 8
      for (int k = 0; k < Tall; ++k) {
#pragma GCC unroll 4
        for (int v = 0; v < Vectors; ++v) acc[k][v] += pixel[k] * d[v];
      }
    }
  }
  for (int k = 0; k < Tall; ++k) {
    for (int v = 0; v < Vectors; ++v) store(partial + index_t(k) * co + v * width, acc[k][v]);
  }
}

/// One panel of output channels of one strip; `length` = 3 ci taps in each of the 3 rows.
template <class T, int Vectors>
void strip_panel(const Strip<T>& strip, index_t x_row, int length, T* partial, int co, bool resume) {
  for (int kh = 0; kh < 3; ++kh) {
    const T* x = strip.x + kh * x_row;
    T* to = partial + index_t(kh) * length * co;
    int k = 0;
    const auto run = [&]<int Tall>() {
      for (; k + Tall <= length; k += Tall) {
        outer_products<T, Tall, Vectors>(strip, x + k, to + index_t(k) * co, co, resume);
      }
    };
    run.template operator()<tall>();
    run.template operator()<3>();
    run.template operator()<1>();
  }
}

template <class T, int Vectors>
void chunk_gradient(const Maps<const T>& x, const Maps<const T>& dz, int stride, int first, int last, T* partial) {
  constexpr int panel = Vectors * Simd<T>::width;
  const int strip_rows = std::clamp(strip_pixels / dz.width, 1, dz.height);
  T packed[2 * strip_pixels * panel];  // strips of one row may be longer than strip_pixels: see the loop over columns
  const int strip_columns = std::min(dz.width, 2 * strip_pixels);
  bool resume = false;
  for (int image = first; image < last; ++image) {
    for (int row = 0; row < dz.height; row += strip_rows) {
      const int rows = std::min(strip_rows, dz.height - row);
      for (int column = 0; column < dz.width; column += strip_columns) {
        const int columns = std::min(strip_columns, dz.width - column);
        for (int channel = 0; channel < dz.channels; channel += panel) {
          T* to = packed;
          for (int r = 0; r < rows; ++r) {
            const T* from = dz.at(image, row + r, column) + channel;
            for (int c = 0; c < columns; ++c, from += dz.channels, to += panel) std::copy(from, from + panel, to);
          }
          const Strip<T> strip{x.at(image, row * stride - 1, column * stride - 1),
                               stride * x.row_stride(),
                               index_t(stride) * x.channels,
                               rows,
                               columns,
                               packed};
          strip_panel<T, Vectors>(strip, x.row_stride(), 3 * x.channels, partial + channel, dz.channels, resume);
        }
        resume = true;
      }
    }
  }
}

/// gradient = sum of the chunks in their order, in double.
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
                              const Span<T>& gradient, T* partials, int chunks) {
  const index_t count = index_t(9) * x.channels * dz.channels;
  const bool two = vectors_of<T>(dz.channels) == 2;
  Kokkos::parallel_for("gradcomp::nn::conv3x3_weight_partials",
                       Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>>(exec, 0, chunks),
                       [=](const int chunk) {
                         const int first = chunk * images_per_chunk;
                         const int last = std::min(first + images_per_chunk, x.images);
                         T* partial = partials + chunk * count;
                         if (two) return chunk_gradient<T, 2>(x, dz, stride, first, last, partial);
                         chunk_gradient<T, 1>(x, dz, stride, first, last, partial);
                       });
  combine(exec, partials, chunks, gradient);
}

#define GRADCOMP_INSTANTIATE(T)                                                                           \
  template void conv3x3_backward_weights<T>(const Exec&, const Maps<const T>&, const Maps<const T>&, int, \
                                            const Span<T>&, T*, int);
GRADCOMP_INSTANTIATE(float)
GRADCOMP_INSTANTIATE(double)
#undef GRADCOMP_INSTANTIATE

}  // namespace gradcomp::nn::host
