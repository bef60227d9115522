#include "gradcomp/nn/optimisers/adamw.hpp"

#include <cassert>

#include "gradcomp/core/error.hpp"

namespace gradcomp::nn {
namespace {

void count_update(const Exec& exec, double beta1, double beta2, const Vector<double>& powers) {
  Kokkos::parallel_for(
      "gradcomp::nn::count_update", IndexRange(exec, 0, 1), KOKKOS_LAMBDA(const int) {
        powers(0) *= beta1;
        powers(1) *= beta2;
      });
}

template <class T>
void adamw_step(const Exec& exec, const OptimiserOptions& options, double rate, const T* gradient,
                const std::uint8_t* decayed, const Vector<double>& powers, T* mean, T* square, T* parameters,
                index_t count) {
  const T beta1 = static_cast<T>(options.beta1), beta2 = static_cast<T>(options.beta2);
  const T epsilon = static_cast<T>(options.epsilon), decay = static_cast<T>(rate * options.weight_decay);
  Kokkos::parallel_for(
      "gradcomp::nn::adamw_step", IndexRange(exec, 0, count), KOKKOS_LAMBDA(const index_t i) {
        const T step = static_cast<T>(rate / (1 - powers(0)));
        const T scale = static_cast<T>(1 / Kokkos::sqrt(1 - powers(1)));
        const T g = gradient[i];
        const T p = parameters[i] - decay * static_cast<T>(decayed[i]) * parameters[i];
        const T m = beta1 * mean[i] + (1 - beta1) * g;
        const T s = beta2 * square[i] + (1 - beta2) * g * g;
        mean[i] = m;
        square[i] = s;
        parameters[i] = p - step * m / (scale * Kokkos::sqrt(s) + epsilon);
      });
}

}  // namespace

template <class T>
AdamW<T>::AdamW(const Layout& layout, const OptimiserOptions& options)
    : m_options(options),
      m_mean("gradcomp::nn::adamw_mean", layout.count()),
      m_square("gradcomp::nn::adamw_square", layout.count()),
      m_decayed(decayed_elements(layout, options.decay_vectors)),
      m_powers("gradcomp::nn::adamw_powers", 2) {
  require(options.beta1 >= 0 && options.beta1 < 1, "adamw: beta1 must be in [0, 1), not {}", options.beta1);
  require(options.beta2 >= 0 && options.beta2 < 1, "adamw: beta2 must be in [0, 1), not {}", options.beta2);
  require(options.epsilon > 0, "adamw: epsilon must be above 0, not {}", options.epsilon);
  require(options.weight_decay >= 0, "weight decay must not be negative, but is {}", options.weight_decay);
  Kokkos::deep_copy(m_powers, 1.0);
}

template <class T>
void AdamW<T>::begin(const Exec& exec) {
  count_update(exec, m_options.beta1, m_options.beta2, m_powers);
}

template <class T>
void AdamW<T>::step(const Exec& exec, double rate, index_t offset, const Span<T>& parameters,
                    const Span<const T>& gradient) {
  const index_t count = static_cast<index_t>(parameters.extent(0));
  assert(gradient.extent(0) == parameters.extent(0) && offset + count <= index_t(m_mean.extent(0)));
  adamw_step<T>(exec, m_options, rate, gradient.data(), m_decayed.data() + offset, m_powers, m_mean.data() + offset,
                m_square.data() + offset, parameters.data(), count);
}

template <class T>
Memories AdamW<T>::memories() const {
  const auto view = [](const char* name, const auto& x) {
    using Element = typename std::decay_t<decltype(x)>::value_type;
    const auto bytes = static_cast<index_t>(x.size() * sizeof(Element));
    return MemoryView{name, x.data(), bytes, false, Role::optimiser, -1};
  };
  return {view("mean", m_mean), view("square", m_square), view("powers", m_powers)};
}

template class AdamW<float>;
template class AdamW<double>;

}  // namespace gradcomp::nn
