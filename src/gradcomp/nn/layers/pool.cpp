#include "gradcomp/nn/layers/pool.hpp"

namespace gradcomp::nn {

template <class T>
void global_average_pool(const Exec& exec, const Maps<const T>& x, const Span<T>& pooled) {
  Kokkos::parallel_for(
      "gradcomp::nn::global_average_pool", IndexRange(exec, 0, index_t(x.images) * x.channels),
      KOKKOS_LAMBDA(const index_t i) {
        const int image = static_cast<int>(i / x.channels), channel = static_cast<int>(i % x.channels);
        double sum = 0;
        for (int row = 0; row < x.height; ++row) {
          const T* pixel = x.at(image, row, 0) + channel;
          for (int column = 0; column < x.width; ++column) sum += pixel[index_t(column) * x.channels];
        }
        pooled(i) = static_cast<T>(sum / (x.height * x.width));
      });
}

template <class T>
void global_average_pool_backward(const Exec& exec, const Span<const T>& pooled_gradient, const ReluBackward<T>& behind,
                                  const Maps<T>& dx) {
  Kokkos::parallel_for(
      "gradcomp::nn::global_average_pool_backward", IndexRange(exec, 0, index_t(dx.images) * dx.channels),
      KOKKOS_LAMBDA(const index_t i) {
        const int channels = dx.channels;
        const int image = static_cast<int>(i / channels), channel = static_cast<int>(i % channels);
        const T share = pooled_gradient(i) / static_cast<T>(dx.height * dx.width);
        const double mean = behind.mean(channel);
        double sum = 0, product = 0;
        for (int row = 0; row < dx.height; ++row) {
          const T* activation = behind.activation.at(image, row, 0) + channel;
          const T* z = behind.z.at(image, row, 0) + channel;
          T* to = dx.at(image, row, 0) + channel;
          for (int column = 0; column < dx.width; ++column, activation += channels, z += channels, to += channels) {
            const T g = *activation > T(0) ? share : T(0);
            *to = g;
            sum += g;
            product += g * (*z - mean);
          }
        }
        behind.sums(index_t(2) * image * channels + channel) = sum;
        behind.sums(index_t(2 * image + 1) * channels + channel) = product;
      });
}

#define GRADCOMP_INSTANTIATE(T)                                                                            \
  template void global_average_pool<T>(const Exec&, const Maps<const T>&, const Span<T>&);                 \
  template void global_average_pool_backward<T>(const Exec&, const Span<const T>&, const ReluBackward<T>&, \
                                                const Maps<T>&);
GRADCOMP_INSTANTIATE(float)
GRADCOMP_INSTANTIATE(double)
#undef GRADCOMP_INSTANTIATE

}  // namespace gradcomp::nn
