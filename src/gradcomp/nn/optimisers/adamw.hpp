#pragma once
// Adam with decoupled weight decay (AdamW) on flat arrays.
#include "gradcomp/nn/optimisers/optimiser.hpp"

namespace gradcomp::nn {

/// p *= 1 - rate weight_decay; m = beta1 m + (1 - beta1) g; s = beta2 s + (1 - beta2) g^2;
/// p -= rate m^ / (sqrt(s^) + epsilon), with m^ = m / (1 - beta1^t), s^ = s / (1 - beta2^t) and t the number of updates
/// including this one (Loshchilov and Hutter, ICLR 2019, algorithm 2, in the form of torch.optim.AdamW).
template <class T>
class AdamW final : public Optimiser<T> {
 public:
  /// Throws Error if an option is out of range.
  AdamW(const Layout& layout, const OptimiserOptions& options);

  void begin(const Exec& exec) override;
  using Optimiser<T>::step;
  void step(const Exec& exec, double rate, index_t offset, const Span<T>& parameters,
            const Span<const T>& gradient) override;
  Memories memories() const override;

 private:
  OptimiserOptions m_options;
  Vector<T> m_mean, m_square;
  Vector<std::uint8_t> m_decayed;  ///< 1 for elements with weight decay
  Vector<double> m_powers;         ///< [2]: beta1^t and beta2^t, on the device
};

}  // namespace gradcomp::nn
