#include "gradcomp/nn/convolution/conv3x3.hpp"

#include <algorithm>
#include <cassert>

#include "gradcomp/nn/convolution/conv3x3_gemm.hpp"
#include "gradcomp/nn/convolution/conv3x3_host.hpp"
#include "gradcomp/nn/convolution/conv3x3_portable.hpp"

namespace gradcomp::nn {
namespace {

constexpr int chunks_of(int images, int per_chunk) { return (images + per_chunk - 1) / per_chunk; }

}  // namespace

template <class T>
void ConvWorkspace<T>::reserve(int images, index_t pixels, int ci, int co, Path path) {
  const auto grow = [](Vector<T>& buffer, const char* label, index_t count) {
    if (index_t(buffer.extent(0)) < count) buffer = Vector<T>(label, count);
  };
  if (taken(path) == Path::device) {
    const index_t together = std::min(images, device::images_per_pass(pixels, ci));
    grow(columns, "gradcomp::nn::conv_columns", together * pixels * 9 * ci);
    grow(dense, "gradcomp::nn::dense_gradient", together * pixels * co);
    return;
  }
  const index_t packed_count = index_t(12) * ci * co;  // for Winograd's F(2, 3); the direct kernels need less
  grow(packed, "gradcomp::nn::packed_weights", packed_count);
  grow(partials, "gradcomp::nn::weight_partials",
       chunks_of(images, images_per_chunk(pixels, index_t(9) * ci * co)) * packed_count);
}

template <class T>
void conv3x3_forward(const Exec& exec, const Maps<const T>& x, const Span<const T>& weights, int stride,
                     const Maps<T>& z, const Span<double>& sums, ConvWorkspace<T>& workspace, Path path) {
  assert(x.halo == 1 && z.halo == 0 && z.height * stride == x.height && z.width * stride == x.width);
  if constexpr (device_is_host) {
    if (path == Path::best && host::covers<T>(z.channels)) {
      return host::conv3x3_forward<T>(exec, x, weights.data(), stride, z, sums, workspace.packed.data());
    }
  }
  if (taken(path) == Path::device) {
    return device::conv3x3_forward<T>(exec, x, weights, stride, z, sums, workspace.columns);
  }
  portable::conv3x3_forward<T>(exec, x, weights, stride, z, sums);
}

template <class T>
void conv3x3_backward_data(const Exec& exec, const Maps<const T>& dz, const Span<const T>& weights, int stride,
                           const ReluBackward<T>& behind, const Maps<T>& dx, ConvWorkspace<T>& workspace, Path path) {
  assert(dz.halo == 1 && dx.halo == 0 && dz.height * stride == dx.height && dz.width * stride == dx.width);
  if constexpr (device_is_host) {
    if (path == Path::best && host::covers<T>(dx.channels)) {
      return host::conv3x3_backward_data<T>(exec, dz, weights.data(), stride, behind, dx, workspace.packed.data());
    }
  }
  if (taken(path) == Path::device) {
    return device::conv3x3_backward_data<T>(exec, dz, weights, stride, behind, dx, workspace.columns, workspace.dense);
  }
  portable::conv3x3_backward_data<T>(exec, dz, weights, stride, behind, dx);
}

template <class T>
void conv3x3_backward_weights(const Exec& exec, const Maps<const T>& x, const Maps<const T>& dz, int stride,
                              const Span<T>& gradient, ConvWorkspace<T>& workspace, Path path) {
  assert(x.halo == 1 && dz.halo == 1 && dz.height * stride == x.height && dz.width * stride == x.width);
  const int per_chunk = images_per_chunk(index_t(dz.height) * dz.width, index_t(9) * x.channels * dz.channels);
  if constexpr (device_is_host) {
    if (path == Path::best && host::covers<T>(dz.channels)) {
      return host::conv3x3_backward_weights<T>(exec, x, dz, stride, gradient, workspace.partials.data(), per_chunk);
    }
  }
  if (taken(path) == Path::device) {
    return device::conv3x3_backward_weights<T>(exec, x, dz, stride, gradient, workspace.columns, workspace.dense);
  }
  portable::conv3x3_backward_weights<T>(exec, x, dz, stride, gradient, workspace.partials, per_chunk);
}

#define GRADCOMP_INSTANTIATE(T)                                                                                  \
  template struct ConvWorkspace<T>;                                                                              \
  template void conv3x3_forward<T>(const Exec&, const Maps<const T>&, const Span<const T>&, int, const Maps<T>&, \
                                   const Span<double>&, ConvWorkspace<T>&, Path);                                \
  template void conv3x3_backward_data<T>(const Exec&, const Maps<const T>&, const Span<const T>&, int,           \
                                         const ReluBackward<T>&, const Maps<T>&, ConvWorkspace<T>&, Path);       \
  template void conv3x3_backward_weights<T>(const Exec&, const Maps<const T>&, const Maps<const T>&, int,        \
                                            const Span<T>&, ConvWorkspace<T>&, Path);
GRADCOMP_INSTANTIATE(float)
GRADCOMP_INSTANTIATE(double)
#undef GRADCOMP_INSTANTIATE

}  // namespace gradcomp::nn
