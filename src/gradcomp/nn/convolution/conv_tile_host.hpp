#pragma once
// The micro-kernel of the forward pass and of the gradient of the input. It keeps a tile of Pixels x Vectors
// accumulators in registers while it walks over taps and input channels. The weights are packed in panels of Vectors
// vectors (conv_pack_host.hpp).
#include <algorithm>

#include "gradcomp/nn/maps.hpp"
#include "gradcomp/nn/simd_host.hpp"

namespace gradcomp::nn::host {

/// Pixels of a large tile. Its accumulators leave enough registers for the weights and one broadcast pixel.
inline constexpr int large_tile = vector_registers == 32 ? 8 : 6;
inline constexpr int small_tile = 4;

/// A panel of more bytes is used one row of taps at a time, so that this part stays in an L1 cache of 32 KiB.
inline constexpr index_t panel_limit = 24 * 1024;

/// Vectors of a panel for this number of output channels: 2 if possible, because two products then share each
/// broadcast. 0: the number is not a multiple of the vector width.
template <class T>
constexpr int vectors_of(int channels) {
  return channels % (2 * Simd<T>::width) == 0 ? 2 : channels % Simd<T>::width == 0 ? 1 : 0;
}

/// The contiguous runs of input under one output pixel.
struct Runs {
  int count;          ///< rows of taps
  int length;         ///< taps per row x input channels
  index_t stride;     ///< distance in elements from one row of the input to the next
  index_t per_pixel;  ///< distance in elements from the input of an output pixel to that of its right neighbour
};

/// acc[p][v] += sum over runs r and k of x[r stride + p per_pixel + k] weights[r length + k][v].
template <class T, int Pixels, int Vectors>
[[gnu::always_inline]] inline void accumulate(Pack<T> (&acc)[Pixels][Vectors], const T* x, const T* weights,
                                              const Runs& runs) {
  constexpr int width = Simd<T>::width;
  for (int run = 0; run < runs.count; ++run, x += runs.stride) {
#pragma GCC unroll 2
    for (int k = 0; k < runs.length; ++k, weights += Vectors * width) {
      Pack<T> w[Vectors];
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) w[v] = load(weights + v * width);
#pragma GCC unroll 8
      for (int p = 0; p < Pixels; ++p) {
        const T pixel = x[p * runs.per_pixel + k];
#pragma GCC unroll 4
        for (int v = 0; v < Vectors; ++v) acc[p][v] += pixel * w[v];
      }
    }
  }
}

/// One tile of one output row. If `finish`, the epilogue takes the accumulators; otherwise they are stored in the
/// output until the next pass, which loads them (`resume`).
template <class T, int Pixels, int Vectors, class Epilogue>
[[gnu::always_inline]] inline void tile(const T* x, const T* weights, const Runs& runs, bool resume, bool finish,
                                        int row, int column, int channel, Epilogue& epilogue) {
  constexpr int width = Simd<T>::width;
  Pack<T> acc[Pixels][Vectors] = {};
  T* out = epilogue.out(row, column) + channel;
  const index_t step = epilogue.out_step();
  if (resume) {
    for (int p = 0; p < Pixels; ++p) {
      for (int v = 0; v < Vectors; ++v) acc[p][v] = load(out + p * step + v * width);
    }
  }
  accumulate<T, Pixels, Vectors>(acc, x, weights, runs);
  if (finish) return epilogue.template finish<Pixels>(acc, row, column, channel);
  for (int p = 0; p < Pixels; ++p) {
    for (int v = 0; v < Vectors; ++v) store(out + p * step + v * width, acc[p][v]);
  }
}

/// A row of `columns` pixels: large tiles, and as many small ones as are needed to cover the row exactly.
template <class T, int Vectors, class Epilogue>
void convolve_row(const T* x, const T* weights, const Runs& runs, bool resume, bool finish, int row, int columns,
                  int channel, Epilogue& epilogue) {
  int small = 0;
  while (small * small_tile <= columns && (columns - small * small_tile) % large_tile != 0) ++small;
  if (small * small_tile > columns) small = columns / small_tile;  // not possible: tiles of 2 and 1 cover the rest
  int column = 0;
  const auto run = [&]<int Pixels>(int last) {
    for (; column + Pixels <= last; column += Pixels) {
      tile<T, Pixels, Vectors>(x + column * runs.per_pixel, weights, runs, resume, finish, row, column, channel,
                               epilogue);
    }
  };
  run.template operator()<large_tile>(columns - small * small_tile);
  run.template operator()<small_tile>(columns);
  run.template operator()<2>(columns);
  run.template operator()<1>(columns);
}

/// Images [first, last) that one thread works on. It uses each part of the weights for all of them while that part is
/// in a cache.
struct Group {
  int first, last;
};

/// Pixels that the images of a group have together, or fewer if there would be too few groups for all threads.
inline constexpr int group_pixels = 256;

inline int images_per_group(const Exec& exec, int images, int pixels) {
  const int share = std::max(1, images / (4 * static_cast<int>(exec.concurrency())));
  return std::clamp(group_pixels / pixels, 1, share);
}

/// All rows and channels of a group of images. `x`: input of output pixel (0, 0) of image 0; image_step and row_step:
/// distances in elements from image to image and from output row to output row. `weights`: panels
/// [channels / (Vectors x width)][runs.count x runs.length][Vectors x width]. `epilogue.image` is set before the rows
/// of an image. The sums of a pixel do not depend on its group.
template <class T, int Vectors, class Epilogue>
void convolve_images(const Group& group, const T* x, index_t image_step, index_t row_step, const T* weights,
                     const Runs& runs, int rows, int columns, int channels, Epilogue& epilogue) {
  constexpr int panel = Vectors * Simd<T>::width;
  const index_t panel_size = index_t(runs.count) * runs.length * panel;
  const bool split = panel_size * index_t(sizeof(T)) > panel_limit;
  const int passes = split ? runs.count : 1;
  const Runs part{split ? 1 : runs.count, runs.length, runs.stride, runs.per_pixel};
  for (int channel = 0; channel < channels; channel += panel, weights += panel_size) {
    for (int pass = 0; pass < passes; ++pass) {
      for (int image = group.first; image < group.last; ++image) {
        epilogue.image = image;
        const T* from = x + image * image_step + pass * runs.stride;
        for (int row = 0; row < rows; ++row, from += row_step) {
          convolve_row<T, Vectors>(from, weights + pass * (panel_size / passes), part, pass > 0, pass + 1 == passes,
                                   row, columns, channel, epilogue);
          if (pass + 1 == passes) epilogue.end_row(channel);
        }
      }
    }
  }
}

}  // namespace gradcomp::nn::host
