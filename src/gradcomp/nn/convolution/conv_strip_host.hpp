#pragma once
// The micro-kernel of the weight gradients. It keeps a tile of taps x output channels in registers while it walks over
// the pixels of a strip.
#include "gradcomp/nn/maps.hpp"
#include "gradcomp/nn/simd_host.hpp"

namespace gradcomp::nn::host {

/// Taps (kw, ci) of a tile, each with as many accumulators as a panel has vectors.
inline constexpr int tall = vector_registers == 32 ? 8 : 6;

/// A strip of rows. The panel of dz that the tiles multiply is copied to [pixel][Vectors x width]. In place, its rows
/// would be 256 bytes apart at 64 channels, and would share a quarter of the cache's sets.
template <class T>
struct Strip {
  const T* x;  ///< first tap of the first pixel
  index_t image_step, row_step, pixel_step;
  int images, rows, columns;
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
  for (int r = 0, row = 0, image = 0; r < strip.images * strip.rows; ++r) {
    const T* pixel = x + image * strip.image_step + row * strip.row_step;
    if (++row == strip.rows) row = 0, ++image;
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

/// One thread's part of the work: the input channels [first, last) of the images of a chunk.
struct Part {
  int first, last, first_image, last_image;
};

/// One panel of output channels of one strip. `partial`: first output channel of the panel in the gradient,
/// [3][3][ci][co].
template <class T, int Vectors>
void strip_panel(const Strip<T>& strip, const Part& part, index_t x_row, int ci, T* partial, int co, bool resume) {
  const bool whole = part.last - part.first == ci;  // if so, the taps of a row are contiguous
  const int runs = whole ? 3 : 9, length = whole ? 3 * ci : part.last - part.first;
  for (int run = 0; run < runs; ++run) {
    const int offset = whole ? 0 : run % 3 * ci + part.first, kh = whole ? run : run / 3;
    const T* x = strip.x + kh * x_row + offset;
    T* to = partial + (index_t(kh) * 3 * ci + offset) * co;
    int k = 0;
    const auto tiles = [&]<int Tall>() {
      for (; k + Tall <= length; k += Tall) {
        outer_products<T, Tall, Vectors>(strip, x + k, to + index_t(k) * co, co, resume);
      }
    };
    tiles.template operator()<tall>();
    tiles.template operator()<3>();
    tiles.template operator()<1>();
  }
}

}  // namespace gradcomp::nn::host
