#include "gradcomp/nn/layers/batch_norm_host.hpp"

#include <limits>

#include "gradcomp/nn/simd_host.hpp"

namespace gradcomp::nn::host {
namespace {

/// Calls work(i, Pack{}) for each whole vector of the channels [first, last), then work(i, T{}) for each other channel.
template <class T, class Work>
[[gnu::always_inline]] inline void for_channels(int first, int last, const Work& work) {
  int i = first;
  for (; i + Simd<T>::width <= last; i += Simd<T>::width) work(i, Pack<T>{});
  for (; i < last; ++i) work(i, T{});
}

template <class T>
[[gnu::always_inline]] inline void get(const T* from, T& value) {
  value = *from;
}

template <class T, class P>
[[gnu::always_inline]] inline void get(const T* from, P& value) {
  std::memcpy(&value, from, sizeof value);
}

/// The value at `from`, with the type of `like`: a vector or an element.
template <class T, class P>
[[gnu::always_inline]] inline P at(const T* from, const P& like) {
  P value = like;
  get(from, value);
  return value;
}

template <class T, class P>
[[gnu::always_inline]] inline void put(T* to, const P& value) {
  std::memcpy(to, &value, sizeof value);
}

}  // namespace

template <class T>
void batch_norm_apply(const Exec& exec, const Maps<const T>& z, const Statistics<T>& statistics, const T* gamma,
                      const T* beta, const Shortcut<T>& shortcut, Activation activation, const Maps<T>& out) {
  const T* const mean = statistics.mean.data();
  const T* const inverse = statistics.inverse_deviation.data();
  const T least = activation == Activation::relu ? T(0) : -std::numeric_limits<T>::infinity();
  const bool with_shortcut = shortcut.source.data != nullptr;
  const int channels = z.channels;
  // the channels [front, back) have a counterpart in the shortcut
  const int front = with_shortcut ? (channels - shortcut.source.channels) / 2 : channels;
  const int back = with_shortcut ? front + shortcut.source.channels : channels;
  Kokkos::parallel_for(
      "gradcomp::nn::batch_norm_apply", Kokkos::RangePolicy<Exec>(exec, 0, z.images * z.height), [=](const int r) {
        const int image = r / z.height, row = r % z.height;
        const T* in = z.at(image, row, 0);
        T* to = out.at(image, row, 0);
        const T* from = with_shortcut ? shortcut.source.at(image, row * shortcut.stride, 0) - front : nullptr;
        for (int column = 0; column < z.width; ++column, in += channels, to += channels) {
          const auto normalised = [&](int i, auto like) {
            return (at(in + i, like) - at(mean + i, like)) * (at(inverse + i, like) * at(gamma + i, like)) +
                   at(beta + i, like);
          };
          const auto plain = [&](int i, auto like) {
            const auto value = normalised(i, like);
            put(to + i, value < least ? like : value);  // NaN stays, because the comparison is false
          };
          const auto with_source = [&](int i, auto like) {
            const auto value = normalised(i, like) + at(from + i, like);
            put(to + i, value < least ? like : value);  // as above
          };
          for_channels<T>(0, front, plain);
          if (!with_shortcut) continue;
          for_channels<T>(front, back, with_source);
          for_channels<T>(back, channels, plain);
          from += index_t(shortcut.stride) * shortcut.source.channels;
        }
      });
}

template <class T>
void batch_norm_backward(const Exec& exec, const Maps<const T>& g, const Maps<const T>& z,
                         const Statistics<T>& statistics, const T* gamma, const T* gamma_gradient,
                         const T* beta_gradient, const Maps<T>& dz) {
  const T* const mean = statistics.mean.data();
  const T* const inverse = statistics.inverse_deviation.data();
  const T share = T(1) / (static_cast<T>(z.images) * z.height * z.width);
  const int channels = z.channels;
  Kokkos::parallel_for(
      "gradcomp::nn::batch_norm_backward", Kokkos::RangePolicy<Exec>(exec, 0, z.images * z.height), [=](const int r) {
        const int image = r / z.height, row = r % z.height;
        const T* gradient = g.at(image, row, 0);
        const T* in = z.at(image, row, 0);
        T* to = dz.at(image, row, 0);
        for (int column = 0; column < z.width; ++column, in += channels, gradient += channels, to += channels) {
          for_channels<T>(0, channels, [&](int i, auto like) {
            const auto deviation = at(inverse + i, like);
            const auto slope = deviation * (at(gamma_gradient + i, like) * share);
            put(to + i,
                (at(gamma + i, like) * deviation) * (at(gradient + i, like) - at(beta_gradient + i, like) * share -
                                                     (at(in + i, like) - at(mean + i, like)) * slope));
          });
        }
      });
}

#define GRADCOMP_INSTANTIATE(T)                                                                                       \
  template void batch_norm_apply<T>(const Exec&, const Maps<const T>&, const Statistics<T>&, const T*, const T*,      \
                                    const Shortcut<T>&, Activation, const Maps<T>&);                                  \
  template void batch_norm_backward<T>(const Exec&, const Maps<const T>&, const Maps<const T>&, const Statistics<T>&, \
                                       const T*, const T*, const T*, const Maps<T>&);
GRADCOMP_INSTANTIATE(float)
GRADCOMP_INSTANTIATE(double)
#undef GRADCOMP_INSTANTIATE

}  // namespace gradcomp::nn::host
