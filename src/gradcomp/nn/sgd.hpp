#pragma once
// Stochastic gradient descent with momentum, over flat arrays: bucket by bucket, as gradients arrive.
#include "gradcomp/core/layout.hpp"

namespace gradcomp::nn {

struct SgdOptions {
  double momentum = 0.9;  ///< 0 where the method's feedback holds the momentum
  bool nesterov = false;
  double weight_decay = 5e-4;
  bool decay_vectors = false;  ///< decay biases and batch-norm parameters too (Goyal et al. 2017 advise against it)
};

/// v = momentum v + (g + weight_decay p); p -= rate v, or rate (g + weight_decay p + momentum v) with Nesterov
/// (Sutskever et al. 2013, in the form of torch.optim.SGD, without dampening).
template <class T>
class Sgd {
 public:
  /// Throws Error when an option is out of range. The momentum starts at zero.
  Sgd(const Layout& layout, const SgdOptions& options);

  /// Updates `parameters`, the elements [offset, offset + parameters.extent(0)) of the layout, from their gradient.
  void step(const Exec& exec, double rate, index_t offset, const Span<T>& parameters, const Span<const T>& gradient);

  /// The whole model.
  void step(const Exec& exec, double rate, const Span<T>& parameters, const Span<const T>& gradient) {
    step(exec, rate, 0, parameters, gradient);
  }

  /// [layout.count()]: for checkpoints and hashes.
  Span<T> momentum() const { return m_momentum; }

 private:
  SgdOptions m_options;
  Vector<T> m_momentum;
  Vector<std::uint8_t> m_decayed;  ///< 1 where weight decay acts
};

}  // namespace gradcomp::nn
