#pragma once
// Feature maps, by which every layer of an image model addresses its activations and their gradients.
#include "gradcomp/core/types.hpp"

namespace gradcomp::nn {

/// Non-owning view of a batch of feature maps, [images][height + 2 halo][width + 2 halo][channels], contiguous (NHWC).
/// A halo of one pixel of zeros is the padding of a 3x3 convolution. With it, the inner loops of a convolution need no
/// branches, and the three taps of a row with all their channels are contiguous. Functions that fill a map do not write
/// its halo.
template <class T>
struct Maps {
  T* data = nullptr;
  int images = 0, height = 0, width = 0, channels = 0;
  int halo = 0;  ///< 0 or 1

  KOKKOS_INLINE_FUNCTION index_t row_stride() const { return index_t(width + 2 * halo) * channels; }
  KOKKOS_INLINE_FUNCTION index_t image_stride() const { return (height + 2 * halo) * row_stride(); }

  /// Channel 0 of a pixel; rows and columns count from -halo.
  KOKKOS_INLINE_FUNCTION T* at(int image, int row, int column) const {
    return data + image * image_stride() + (row + halo) * row_stride() + index_t(column + halo) * channels;
  }

  /// Elements without the halo.
  KOKKOS_INLINE_FUNCTION index_t count() const { return index_t(images) * height * width * channels; }

  /// Elements with the halo, which is the size of the buffer at `data`.
  index_t storage() const { return images * image_stride(); }

  operator Maps<const T>() const { return {data, images, height, width, channels, halo}; }
};

/// Place of one element of a map. Element number `i` is counted without the halo; portable kernels have one thread per
/// element.
struct Site {
  int image, row, column, channel;

  KOKKOS_INLINE_FUNCTION Site(int of_image, int at_row, int at_column, int of_channel)
      : image(of_image), row(at_row), column(at_column), channel(of_channel) {}

  template <class T>
  KOKKOS_INLINE_FUNCTION Site(const Maps<T>& maps, index_t i) {
    channel = static_cast<int>(i % maps.channels);
    i /= maps.channels;
    column = static_cast<int>(i % maps.width);
    i /= maps.width;
    row = static_cast<int>(i % maps.height);
    image = static_cast<int>(i / maps.height);
  }
};

/// Which implementation a layer uses.
enum class Path {
  best,    ///< on devices, `device`; on hosts, the vectorised kernels, or `portable` if there are none for the numbers
           ///< of channels
  device,  ///< keeps a GPU busy: convolutions and LSTMs as matrix products of a BLAS; the many small products of an
           ///< attention and sums over pixels by teams of threads. Runs on hosts too, but more slowly
  portable,  ///< one thread per element of the result; tests compare the others with it
};

/// What `path` means in this build.
constexpr Path taken(Path path) { return path == Path::best && !device_is_host ? Path::device : path; }

}  // namespace gradcomp::nn
