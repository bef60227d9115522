#pragma once
// Stochastic gradient descent (SGD) with momentum on flat arrays.
#include "gradcomp/nn/optimisers/optimiser.hpp"

namespace gradcomp::nn {

/// d = g + weight_decay p; v = momentum v + d; p -= rate v. The other MomentumForms subtract rate (d + momentum v) or
/// rate (d + v) instead.
template <class T>
class Sgd final : public Optimiser<T> {
 public:
  /// Throws Error if an option is out of range.
  Sgd(const Layout& layout, const OptimiserOptions& options);

  void begin(const Exec&) override {}
  using Optimiser<T>::step;
  void step(const Exec& exec, double rate, index_t offset, const Span<T>& parameters,
            const Span<const T>& gradient) override;
  Memories memories() const override;

 private:
  OptimiserOptions m_options;
  Vector<T> m_momentum;
  Vector<std::uint8_t> m_decayed;  ///< 1 for elements with weight decay
};

}  // namespace gradcomp::nn
