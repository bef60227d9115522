#pragma once
// Winograd's F(2, 3) along the rows (Lavin and Gray, CVPR 2016, section 4.1, in one dimension): two neighbouring pixels
// of a result need 4 products for a row of three taps, instead of 6. The 4 kinds of products are summed over input
// channels and rows of taps, as those of a direct convolution are. So the micro-kernel of conv_tile_host.hpp forms
// them, with pairs in the place of pixels. In two dimensions, F(2 x 2, 3 x 3) would save 5 of 9 products instead of 1
// of 3, but would need several times as many additions and as much memory.
#include "gradcomp/nn/convolution/conv_tile_host.hpp"

namespace gradcomp::nn::host {

inline constexpr int winograd_kinds = 4;  ///< kinds of products

/// Pairs of a tile, which may lie in several rows. The epilogue gets two pairs at a time.
inline constexpr int pair_tile = vector_registers == 32 ? 8 : 4;

/// Maximum bytes of the transformed input of a strip of rows, and of the weights of a panel. Both are read from L2.
inline constexpr index_t strip_limit = 64 * 1024, winograd_panel_limit = 128 * 1024;

/// Rows of results in a strip: whole tiles whose input fits into strip_limit; 0 if not even one tile does.
template <class T>
int strip_rows(const Maps<const T>& x) {
  const int pairs = x.width / 2, tile_rows = std::max(1, pair_tile / pairs);
  const auto fitting = static_cast<int>(strip_limit / (winograd_kinds * pairs * x.channels * index_t(sizeof(T))));
  return std::max(0, (fitting - 2) / tile_rows * tile_rows);
}

/// Whether F(2, 3) is faster. This needs stride 1, rows of whole tiles or tiles of whole rows, channels in whole
/// vectors, and input and weights within the limits.
template <class T>
bool winograd_covers(const Maps<const T>& x, int channels, int stride) {
  const int pairs = x.width / 2, panel = vectors_of<T>(channels) * Simd<T>::width;
  if (stride != 1 || x.width % 4 != 0 || x.channels % Simd<T>::width != 0) return false;
  const bool whole = (pairs % pair_tile == 0 || pair_tile % pairs == 0) && x.height * pairs % pair_tile == 0;
  const index_t panel_bytes = index_t(3) * winograd_kinds * x.channels * panel * index_t(sizeof(T));
  return whole && strip_rows(x) > 0 && panel_bytes <= winograd_panel_limit;
}

/// Transforms the weights [3][3][ci][co] into the order in which the tiles read them,
/// packed[panel][kind][kh][inner][panel width], which has 12 ci co elements. inner counts the input channels. For the
/// gradient of the input (`transposed`) it counts the output channels, and the taps are reversed.
template <class T>
void pack_winograd(const Exec& exec, const T* weights, int ci, int co, bool transposed, T* packed) {
  const int outer = transposed ? ci : co, inner = transposed ? co : ci;
  const int panel = vectors_of<T>(outer) * Simd<T>::width;
  const index_t tap = index_t(ci) * co;
  Kokkos::parallel_for(
      "gradcomp::nn::pack_winograd", Kokkos::RangePolicy<Exec>(exec, 0, outer / panel * inner), [=](const int item) {
        const int first = item / inner * panel, i = item % inner;
        for (int kh = 0; kh < 3; ++kh) {
          for (int p = 0; p < panel; ++p) {
            const int o = first + p;
            const T* const at = weights + (transposed ? index_t(o) * co + i : index_t(i) * co + o);
            const auto g = [&](int kw) { return at[(transposed ? 8 - 3 * kh - kw : 3 * kh + kw) * tap]; };
            const T outside = g(0) + g(2), half = T(0.5);
            const T kinds[winograd_kinds] = {g(0), half * (outside + g(1)), half * (outside - g(1)), g(2)};
            for (int kind = 0; kind < winograd_kinds; ++kind) {
              packed[((index_t(first) * winograd_kinds + index_t(kind) * panel) * 3 + index_t(kh) * panel) * inner +
                     index_t(i) * panel + p] = kinds[kind];
            }
          }
        }
      });
}

/// Transforms the input of one row of `pairs` pairs to to[kind][pair][channel]. x: first column of taps, with `step`
/// elements from column to column. plane: elements from kind to kind.
template <class T>
void transform_row(const T* x, index_t step, int pairs, int channels, T* to, index_t plane) {
  for (int j = 0; j < pairs; ++j, x += 2 * step, to += channels) {
    for (int c = 0; c < channels; c += Simd<T>::width) {
      const Pack<T> d0 = load(x + c), d1 = load(x + step + c), d2 = load(x + 2 * step + c), d3 = load(x + 3 * step + c);
      store(to + c, d0 - d2);
      store(to + plane + c, d1 + d2);
      store(to + 2 * plane + c, d2 - d1);
      store(to + 3 * plane + c, d1 - d3);
    }
  }
}

/// One tile, which begins with pair `first` of the image: forms its 4 kinds of products and then its pixels. strip:
/// transformed input of the tile, with `plane` elements from kind to kind.
template <class T, int Vectors, class Epilogue>
[[gnu::always_inline]] inline void winograd_tile(const T* strip, index_t plane, const T* weights, const Runs& runs,
                                                 int first, int pairs, int channel, Epilogue& epilogue) {
  const auto row_of = [&](int p) { return (first + p) / pairs; };
  const auto pair_of = [&](int p) { return (first + p) % pairs; };
  for (int p = 0; p < pair_tile; p += 2) epilogue.prefetch(row_of(p), 2 * pair_of(p), 4, channel);
  Pack<T> m[winograd_kinds][pair_tile][Vectors];
  for (int kind = 0; kind < winograd_kinds; ++kind, strip += plane) {
    Pack<T> acc[pair_tile][Vectors] = {};  // stays in registers; m is too large for them
    accumulate<T, pair_tile, Vectors>(acc, strip, weights, runs);
    weights += index_t(runs.count) * runs.length * Vectors * Simd<T>::width;
#pragma GCC unroll 8
    for (int p = 0; p < pair_tile; ++p) {
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) m[kind][p][v] = acc[p][v];
    }
  }
  for (int p = 0; p < pair_tile; p += 2) {
    Pack<T> pixels[4][Vectors];
    for (int i = 0; i < 2; ++i) {
      for (int v = 0; v < Vectors; ++v) {
        pixels[2 * i][v] = m[0][p + i][v] + m[1][p + i][v] + m[2][p + i][v];
        pixels[2 * i + 1][v] = m[1][p + i][v] - m[2][p + i][v] - m[3][p + i][v];
      }
    }
    epilogue.template finish<4>(pixels, row_of(p), 2 * pair_of(p), channel);
    if (pair_of(p) + 2 == pairs) epilogue.end_row(channel);
  }
}

/// Does what convolve_images() does, for a 3x3 convolution with stride 1 and padding 1. x has halo 1; `weights`: from
/// pack_winograd().
template <class T, int Vectors, class Epilogue>
void winograd_images(const Group& group, const Maps<const T>& x, const T* weights, int channels, Epilogue& epilogue) {
  constexpr int panel = Vectors * Simd<T>::width;
  alignas(vector_bytes) T strip[strip_limit / sizeof(T)];
  const int pairs = x.width / 2, most = strip_rows(x);
  const index_t row_size = index_t(pairs) * x.channels, per_channel = index_t(3) * winograd_kinds * x.channels;
  const Runs runs{3, x.channels, row_size, x.channels};
  for (int image = group.first; image < group.last; ++image) {
    epilogue.image = image;
    for (int begin = 0; begin < x.height; begin += most) {
      const int rows = std::min(most, x.height - begin), tiles = rows * pairs / pair_tile;
      const index_t plane = (rows + 2) * row_size;
      for (int r = 0; r < rows + 2; ++r)
        transform_row(x.at(image, begin + r - 1, -1), x.channels, pairs, x.channels, strip + r * row_size, plane);
      const T* const ahead = x.at(image, begin + rows + 1, -1);  // input of the next strip, prefetched below
      const index_t slice = rows * x.row_stride() / tiles;
      for (int channel = 0; channel < channels; channel += panel) {
        for (int t = 0; t < tiles; ++t) {
          if (channel == 0) prefetch(ahead + t * slice, slice);
          winograd_tile<T, Vectors>(strip + t * pair_tile * x.channels, plane, weights + channel * per_channel, runs,
                                    begin * pairs + t * pair_tile, pairs, channel, epilogue);
        }
      }
    }
  }
}

}  // namespace gradcomp::nn::host
