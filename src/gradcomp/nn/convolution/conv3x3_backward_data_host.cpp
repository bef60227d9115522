#include <array>

#include "gradcomp/nn/convolution/conv3x3_host.hpp"
#include "gradcomp/nn/convolution/conv_pack_host.hpp"
#include "gradcomp/nn/convolution/conv_winograd_host.hpp"

namespace gradcomp::nn::host {
namespace {

using PerGroup = Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>>;

/// The pixels of dx that one pass of the micro-kernel computes: all of them (step 1), or one of the four parities
/// (step 2). Each parity is a convolution of dz with 1, 2 or 4 of the 9 taps, so that no zeros are inserted.
struct Parity {
  int step, row, column;
};

/// ReluBackward on a tile: adds the shortcut, applies the mask, stores the result and forms the sums, in T along a row
/// and in double over the rows.
template <class T, int Vectors>
struct MaskAndReduce {
  ReluBackward<T> behind;
  Maps<T> dx;
  Parity parity;
  bool with_shortcut;    ///< the shortcut reaches this parity
  int shortcut_padding;  ///< padded channels before the first one of this map
  int image = 0;
  Pack<T> sum[Vectors] = {}, product[Vectors] = {};

  int row_of(int row) const { return row * parity.step + parity.row; }
  int column_of(int column) const { return column * parity.step + parity.column; }
  T* out(int row, int column) const { return dx.at(image, row_of(row), column_of(column)); }
  index_t out_step() const { return index_t(parity.step) * dx.channels; }

  /// Prefetches what finish() reads.
  [[gnu::always_inline]] void prefetch(int row, int column, int pixels, int channel) const {
    for (int p = 0; p < pixels; ++p) {
      host::prefetch(behind.activation.at(image, row_of(row), column_of(column + p)) + channel,
                     Vectors * Simd<T>::width);
      host::prefetch(behind.z.at(image, row_of(row), column_of(column + p)) + channel, Vectors * Simd<T>::width);
    }
  }

  template <int Pixels>
  [[gnu::always_inline]] void finish(const Pack<T> (&acc)[Pixels][Vectors], int row, int column, int channel) {
    constexpr int width = Simd<T>::width;
    const index_t step = out_step();
    T* to = out(row, column) + channel;
    const T* activation = behind.activation.at(image, row_of(row), column_of(column)) + channel;
    const T* z = behind.z.at(image, row_of(row), column_of(column)) + channel;
    const T* mean = behind.mean.data() + channel;
    const T* shortcut = nullptr;
    if (with_shortcut) {
      const int stride = behind.shortcut_stride;
      shortcut =
          behind.shortcut.at(image, row_of(row) / stride, column_of(column) / stride) + channel + shortcut_padding;
    }
    const index_t shortcut_step = behind.shortcut.channels;
    for (int v = 0; v < Vectors; ++v) {
      const Pack<T> m = load(mean + v * width);
      Pack<T> s = sum[v], q = product[v];  // in registers, because stores of the result may alias the members
      for (int p = 0; p < Pixels; ++p) {
        Pack<T> g = acc[p][v];
        if (with_shortcut) g += load(shortcut + p * shortcut_step + v * width);
        g = load(activation + p * step + v * width) > Pack<T>{} ? g : Pack<T>{};
        s += g;
        q += g * (load(z + p * step + v * width) - m);
        store(to + p * step + v * width, g);
      }
      sum[v] = s, product[v] = q;
    }
  }

  void end_row(int channel) {
    constexpr int width = Simd<T>::width;
    double* const sums = behind.sums.data() + index_t(2) * image * dx.channels + channel;
    for (int v = 0; v < Vectors; ++v) {
      for (int i = 0; i < width; ++i) {
        sums[v * width + i] += sum[v][i];
        sums[dx.channels + v * width + i] += product[v][i];
      }
      sum[v] = product[v] = Pack<T>{};
    }
  }
};

/// Taps that reach the pixels of a parity, in the order of the rows and columns of dz that they read. Row o of dz and
/// tap kh reach row i = 2 o + kh - 1 of dx. So an even row is reached by kh = 1 from row i / 2, and an odd row by kh =
/// 2 from row (i - 1) / 2 and by kh = 0 from the next row.
struct Taps {
  int list[9];
  int rows, columns;  ///< numbers of rows and columns of taps
};

Taps taps_of(const Parity& parity) {
  if (parity.step == 1) return {{8, 7, 6, 5, 4, 3, 2, 1, 0}, 3, 3};
  Taps taps{{}, parity.row + 1, parity.column + 1};
  int n = 0;
  for (int r = 0; r < taps.rows; ++r) {
    for (int c = 0; c < taps.columns; ++c) {
      const int kh = parity.row == 0 ? 1 : 2 - 2 * r, kw = parity.column == 0 ? 1 : 2 - 2 * c;
      taps.list[n++] = 3 * kh + kw;
    }
  }
  return taps;
}

template <class T>
struct Launch {
  Parity parity;
  const T* packed;
  Runs runs;
  int first;  ///< row and column of dz under pixel (0, 0) of this parity
  bool with_shortcut;
};

/// One thread does all parities of a group of images, so that it loads their maps into its L2 cache once. `winograd`:
/// the weights of the only launch (stride 1) are packed for winograd_images().
template <class T, int Vectors>
void backward_data(const Exec& exec, const Maps<const T>& dz, const std::array<Launch<T>, 4>& launches, int count,
                   const ReluBackward<T>& behind, const Maps<T>& dx, bool winograd) {
  const int padding = (behind.shortcut.channels - dx.channels) / 2;
  const int per_group = images_per_group(exec, dx.images, dz.height * dz.width);
  const int groups = (dx.images + per_group - 1) / per_group;
  Kokkos::parallel_for("gradcomp::nn::conv3x3_backward_data", PerGroup(exec, 0, groups), [=](const int g) {
    const Group group{g * per_group, std::min((g + 1) * per_group, dx.images)};
    const index_t per_image = index_t(2) * dx.channels;
    std::fill(behind.sums.data() + group.first * per_image, behind.sums.data() + group.last * per_image, 0.0);
    for (int i = 0; i < count; ++i) {
      const Launch<T>& launch = launches[i];
      const Parity& parity = launch.parity;
      MaskAndReduce<T, Vectors> epilogue{behind, dx, parity, launch.with_shortcut, padding};
      if (winograd) return winograd_images<T, Vectors>(group, dz, launch.packed, dx.channels, epilogue);
      convolve_images<T, Vectors>(group, dz.at(0, launch.first, launch.first), dz.image_stride(), dz.row_stride(),
                                  launch.packed, launch.runs, dx.height / parity.step, dx.width / parity.step,
                                  dx.channels, epilogue);
    }
  });
}

}  // namespace

template <class T>
void conv3x3_backward_data(const Exec& exec, const Maps<const T>& dz, const T* weights, int stride,
                           const ReluBackward<T>& behind, const Maps<T>& dx, T* packed) {
  std::array<Launch<T>, 4> launches;
  const bool winograd = winograd_covers(dz, dx.channels, stride);
  for (int i = 0; i < stride * stride; ++i) {
    const Parity parity{stride, i / stride, i % stride};
    const Taps taps = taps_of(parity);
    const int count = taps.rows * taps.columns, step = behind.shortcut_stride;
    if (winograd) {
      pack_winograd(exec, weights, dx.channels, dz.channels, true, packed);
    } else {
      pack_weights(exec, weights, dx.channels, dz.channels, taps.list, count, true, packed);
    }
    const bool reached = parity.row % step == 0 && parity.column % step == 0;
    launches[i] = {parity,
                   packed,
                   {taps.rows, taps.columns * dz.channels, dz.row_stride(), dz.channels},
                   stride == 1 ? -1 : 0,
                   behind.shortcut.data != nullptr && reached};
    packed += index_t(count) * dx.channels * dz.channels;
  }
  const int count = stride * stride;
  if (vectors_of<T>(dx.channels) == 2) return backward_data<T, 2>(exec, dz, launches, count, behind, dx, winograd);
  backward_data<T, 1>(exec, dz, launches, count, behind, dx, winograd);
}

#define GRADCOMP_INSTANTIATE(T)                                                                                    \
  template void conv3x3_backward_data<T>(const Exec&, const Maps<const T>&, const T*, int, const ReluBackward<T>&, \
                                         const Maps<T>&, T*);
GRADCOMP_INSTANTIATE(float)
GRADCOMP_INSTANTIATE(double)
#undef GRADCOMP_INSTANTIATE

}  // namespace gradcomp::nn::host
