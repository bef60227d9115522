#include "gradcomp/nn/convolution/conv3x3_portable.hpp"

#include "gradcomp/nn/convolution/relu_backward.hpp"
#include "gradcomp/nn/layers/image_sums.hpp"

namespace gradcomp::nn::portable {

template <class T>
void conv3x3_forward(const Exec& exec, const Maps<const T>& x, const Span<const T>& weights, int stride,
                     const Maps<T>& z, const Span<double>& sums) {
  Kokkos::parallel_for(
      "gradcomp::nn::conv3x3_forward", IndexRange(exec, 0, z.count()), KOKKOS_LAMBDA(const index_t i) {
        const Site site(z, i);
        const int run = 3 * x.channels;
        T sum = 0;
        for (int kh = 0; kh < 3; ++kh) {
          const T* in = x.at(site.image, site.row * stride + kh - 1, site.column * stride - 1);
          const T* w = weights.data() + index_t(kh) * run * z.channels + site.channel;
          for (int k = 0; k < run; ++k) sum += in[k] * w[index_t(k) * z.channels];
        }
        z.at(site.image, site.row, site.column)[site.channel] = sum;
      });
  if (sums.extent(0) > 0) image_sums<T>(exec, z, z, {}, sums, Path::portable);
}

template <class T>
void conv3x3_backward_data(const Exec& exec, const Maps<const T>& dz, const Span<const T>& weights, int stride,
                           const ReluBackward<T>& behind, const Maps<T>& dx) {
  Kokkos::parallel_for(
      "gradcomp::nn::conv3x3_backward_data", IndexRange(exec, 0, dx.count()), KOKKOS_LAMBDA(const index_t i) {
        const Site site(dx, i);
        const int co = dz.channels;
        T sum = 0;
        for (int kh = 0; kh < 3; ++kh) {
          const int row = site.row + 1 - kh;  // = stride x the row of dz from which this tap comes
          if (row % stride != 0) continue;
          for (int kw = 0; kw < 3; ++kw) {
            const int column = site.column + 1 - kw;
            if (column % stride != 0) continue;
            const T* in = dz.at(site.image, row / stride, column / stride);
            const T* w = weights.data() + (index_t(3 * kh + kw) * dx.channels + site.channel) * co;
            for (int k = 0; k < co; ++k) sum += in[k] * w[k];
          }
        }
        dx.at(site.image, site.row, site.column)[site.channel] = relu_backward(behind, site, sum);
      });
  image_sums<T>(exec, dx, behind.z, behind.mean, behind.sums, Path::portable);
}

template <class T>
void conv3x3_backward_weights(const Exec& exec, const Maps<const T>& x, const Maps<const T>& dz, int stride,
                              const Span<T>& gradient, const Span<T>& partials, int per_chunk) {
  const int chunks = (x.images + per_chunk - 1) / per_chunk;
  const index_t count = index_t(9) * x.channels * dz.channels;
  Kokkos::parallel_for(
      "gradcomp::nn::conv3x3_weight_partials", IndexRange(exec, 0, chunks * count), KOKKOS_LAMBDA(const index_t i) {
        const int first = static_cast<int>(i / count) * per_chunk;
        const int last = Kokkos::min(first + per_chunk, x.images);
        const int co = static_cast<int>(i % dz.channels);
        const int tap = static_cast<int>(i % count / dz.channels);  // (kh, kw, ci)
        const int ci = tap % x.channels, kw = tap / x.channels % 3, kh = tap / x.channels / 3;
        double sum = 0;
        for (int image = first; image < last; ++image) {
          for (int row = 0; row < dz.height; ++row) {
            const T* in = x.at(image, row * stride + kh - 1, kw - 1) + ci;
            const T* out = dz.at(image, row, 0) + co;
            T of_row = 0;
            for (int column = 0; column < dz.width; ++column) {
              of_row += in[index_t(column) * stride * x.channels] * out[index_t(column) * dz.channels];
            }
            sum += of_row;
          }
        }
        partials(i) = static_cast<T>(sum);
      });
  Kokkos::parallel_for(
      "gradcomp::nn::conv3x3_combine", IndexRange(exec, 0, count), KOKKOS_LAMBDA(const index_t i) {
        double sum = 0;
        for (int chunk = 0; chunk < chunks; ++chunk) sum += partials(chunk * count + i);
        gradient(i) = static_cast<T>(sum);
      });
}

#define GRADCOMP_INSTANTIATE(T)                                                                                  \
  template void conv3x3_forward<T>(const Exec&, const Maps<const T>&, const Span<const T>&, int, const Maps<T>&, \
                                   const Span<double>&);                                                         \
  template void conv3x3_backward_data<T>(const Exec&, const Maps<const T>&, const Span<const T>&, int,           \
                                         const ReluBackward<T>&, const Maps<T>&);                                \
  template void conv3x3_backward_weights<T>(const Exec&, const Maps<const T>&, const Maps<const T>&, int,        \
                                            const Span<T>&, const Span<T>&, int);
GRADCOMP_INSTANTIATE(float)
GRADCOMP_INSTANTIATE(double)
#undef GRADCOMP_INSTANTIATE

}  // namespace gradcomp::nn::portable
