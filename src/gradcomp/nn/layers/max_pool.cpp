#include "gradcomp/kernels/lanes/lanes.hpp"
#include "gradcomp/nn/convolution/relu_backward.hpp"
#include "gradcomp/nn/layers/image_sums.hpp"
#include "gradcomp/nn/layers/pool.hpp"

namespace gradcomp::nn {
namespace {

using kernels::each_element;
using kernels::for_warps;
using kernels::Warp;

/// Whether `value` replaces the maximum `most`. NaN counts as a maximum, and the first NaN stays.
template <class T>
KOKKOS_INLINE_FUNCTION bool is_larger(T value, T most) {
  return (value > most) | ((value != value) & (most == most));
}

/// Image, row and column of pixel number `pixel` of the batch.
template <class T>
KOKKOS_INLINE_FUNCTION Site pixel_site(const Maps<T>& maps, index_t pixel) {
  return Site(maps, pixel * maps.channels);
}

template <class T>
index_t pixels(const Maps<T>& maps) {
  return index_t(maps.images) * maps.height * maps.width;
}

}  // namespace

template <class T>
void max_pool(const Exec& exec, const Maps<const T>& x, const Maps<const T>& z, const Maps<T>& pooled,
              const Maps<T>& pooled_z) {
  for_warps(
      "gradcomp::nn::max_pool", exec, pixels(pooled), KOKKOS_LAMBDA(const Warp& warp, const index_t pixel) {
        const Site site = pixel_site(pooled, pixel);
        const T* upper = x.at(site.image, 2 * site.row, 2 * site.column);
        const T* lower = x.at(site.image, 2 * site.row + 1, 2 * site.column);
        const T* upper_z = z.at(site.image, 2 * site.row, 2 * site.column);
        const T* lower_z = z.at(site.image, 2 * site.row + 1, 2 * site.column);
        T* to = pooled.at(site.image, site.row, site.column);
        T* to_z = pooled_z.at(site.image, site.row, site.column);
        const int channels = x.channels;
        each_element(warp, channels, [&](int, index_t c) {
          T most = upper[c], of_most = upper_z[c];
          const T values[] = {upper[c + channels], lower[c], lower[c + channels]};
          const T results[] = {upper_z[c + channels], lower_z[c], lower_z[c + channels]};
          for (int p = 0; p < 3; ++p) {
            const bool larger = is_larger(values[p], most);
            most = larger ? values[p] : most;
            of_most = larger ? results[p] : of_most;
          }
          to[c] = most;
          to_z[c] = of_most;
        });
      });
}

template <class T>
void max_pool_backward(const Exec& exec, const Maps<const T>& x, const Maps<const T>& g, const Maps<T>& dx) {
  for_warps(
      "gradcomp::nn::max_pool_backward", exec, pixels(g), KOKKOS_LAMBDA(const Warp& warp, const index_t pixel) {
        const Site site = pixel_site(g, pixel);
        const T* upper = x.at(site.image, 2 * site.row, 2 * site.column);
        const T* lower = x.at(site.image, 2 * site.row + 1, 2 * site.column);
        const T* from = g.at(site.image, site.row, site.column);
        T* upper_to = dx.at(site.image, 2 * site.row, 2 * site.column);
        T* lower_to = dx.at(site.image, 2 * site.row + 1, 2 * site.column);
        const int channels = x.channels;
        each_element<1>(warp, channels, [&](int, index_t c) {
          const T a = upper[c], b = upper[c + channels], d = lower[c], e = lower[c + channels], value = from[c];
          const bool second = is_larger(b, a);
          const T top = second ? b : a;
          const bool third = is_larger(d, top);
          const T so_far = third ? d : top;
          const bool fourth = is_larger(e, so_far);
          upper_to[c] = (second | third | fourth) ? T(0) : value;
          upper_to[c + channels] = (second & !third & !fourth) ? value : T(0);
          lower_to[c] = (third & !fourth) ? value : T(0);
          lower_to[c + channels] = fourth ? value : T(0);
        });
      });
}

template <class T>
void flatten_backward(const Exec& exec, const Maps<const T>& gradient, const ReluBackward<T>& behind, const Maps<T>& dx,
                      Path path) {
  Kokkos::parallel_for(
      "gradcomp::nn::flatten_backward", IndexRange(exec, 0, dx.count()),
      KOKKOS_LAMBDA(const index_t i) { dx.data[i] = portable::relu_backward(behind, Site(dx, i), gradient.data[i]); });
  image_sums<T>(exec, dx, behind.z, behind.mean, behind.sums, path);
}

#define GRADCOMP_INSTANTIATE(T)                                                                                       \
  template void max_pool<T>(const Exec&, const Maps<const T>&, const Maps<const T>&, const Maps<T>&, const Maps<T>&); \
  template void max_pool_backward<T>(const Exec&, const Maps<const T>&, const Maps<const T>&, const Maps<T>&);        \
  template void flatten_backward<T>(const Exec&, const Maps<const T>&, const ReluBackward<T>&, const Maps<T>&, Path);
GRADCOMP_INSTANTIATE(float)
GRADCOMP_INSTANTIATE(double)
#undef GRADCOMP_INSTANTIATE

}  // namespace gradcomp::nn
