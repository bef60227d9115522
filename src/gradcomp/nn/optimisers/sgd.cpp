#include "gradcomp/nn/optimisers/sgd.hpp"

#include <cassert>

#include "gradcomp/core/error.hpp"

namespace gradcomp::nn {
namespace {

template <class T>
void sgd_step(const Exec& exec, const OptimiserOptions& options, double rate, const T* gradient,
              const std::uint8_t* decayed, T* momentum, T* parameters, index_t count) {
  const T mu = static_cast<T>(options.momentum), decay = static_cast<T>(options.weight_decay);
  const T step = static_cast<T>(rate);
  const bool plain = options.form == MomentumForm::heavy_ball;
  const T share = options.form == MomentumForm::powersgd ? T(1) : mu;  // factor of v, which is added to g
  Kokkos::parallel_for(
      "gradcomp::nn::sgd_step", IndexRange(exec, 0, count), KOKKOS_LAMBDA(const index_t i) {
        const T g = gradient[i] + decay * static_cast<T>(decayed[i]) * parameters[i];
        const T v = mu * momentum[i] + g;
        momentum[i] = v;
        parameters[i] -= step * (plain ? v : g + share * v);
      });
}

}  // namespace

template <class T>
Sgd<T>::Sgd(const Layout& layout, const OptimiserOptions& options)
    : m_options(options),
      m_momentum("gradcomp::nn::momentum", layout.count()),
      m_decayed(decayed_elements(layout, options.decay_vectors)) {
  require(options.momentum >= 0 && options.momentum < 1, "momentum must be in [0, 1), not {}", options.momentum);
  require(options.weight_decay >= 0, "weight decay must not be negative, but is {}", options.weight_decay);
}

template <class T>
void Sgd<T>::step(const Exec& exec, double rate, index_t offset, const Span<T>& parameters,
                  const Span<const T>& gradient) {
  const index_t count = static_cast<index_t>(parameters.extent(0));
  assert(gradient.extent(0) == parameters.extent(0) && offset + count <= index_t(m_momentum.extent(0)));
  sgd_step<T>(exec, m_options, rate, gradient.data(), m_decayed.data() + offset, m_momentum.data() + offset,
              parameters.data(), count);
}

template <class T>
Memories Sgd<T>::memories() const {
  return {
      {"momentum", m_momentum.data(), static_cast<index_t>(m_momentum.size() * sizeof(T)), false, Role::optimiser, -1}};
}

template class Sgd<float>;
template class Sgd<double>;

}  // namespace gradcomp::nn
