#pragma once
// The contract of an optimiser: what turns a mean gradient into new parameters, range by range, as means arrive.
#include <memory>
#include <string>

#include "gradcomp/core/layout.hpp"
#include "gradcomp/core/memories.hpp"

namespace gradcomp::nn {

/// What a step of sgd is, with g the gradient and its weight decay, v = momentum v + g.
enum class MomentumForm : std::uint8_t {
  heavy_ball,  ///< v
  nesterov,    ///< g + momentum v (Sutskever et al. 2013, as torch.optim.SGD)
  powersgd,    ///< g + v (Vogels et al., NeurIPS 2019, algorithm 2; "nesterov" in their code)
};
/// off, on, powersgd. Throws Error that lists the names.
MomentumForm momentum_form(const std::string& nesterov);

struct OptimiserOptions {
  std::string name = "sgd";  ///< sgd or adamw
  double momentum = 0.9;     ///< of sgd; 0 where the method's feedback holds the momentum
  MomentumForm form = MomentumForm::heavy_ball;
  double beta1 = 0.9;     ///< of adamw: share of the old mean of gradients
  double beta2 = 0.999;   ///< of adamw: share of the old mean of their squares
  double epsilon = 1e-8;  ///< of adamw
  double weight_decay = 5e-4;
  bool decay_vectors = false;  ///< decay biases and batch-norm parameters too (Goyal et al. 2017 advise against it)
};

/// True where the update is skipped: flags of core/verdict.hpp, or null. Hosts know that before they launch an update,
/// and pass null.
KOKKOS_INLINE_FUNCTION bool is_skipped(const std::uint32_t* flags) {
  if constexpr (device_is_host) {
    return false;
  } else {
    return flags != nullptr && flags[0] != 0;
  }
}

template <class T>
class Optimiser {
 public:
  virtual ~Optimiser() = default;

  /// A new update. `flags`: as in is_skipped(); they must not change until all of its step()s have run.
  virtual void begin(const Exec& exec, const std::uint32_t* flags) = 0;

  /// Updates `parameters`, the elements [offset, offset + parameters.extent(0)) of the layout, from their gradient.
  virtual void step(const Exec& exec, double rate, index_t offset, const Span<T>& parameters,
                    const Span<const T>& gradient) = 0;

  /// Moments of the gradients, all zero at first.
  virtual Memories memories() const = 0;

  /// A whole update of the whole model.
  void step(const Exec& exec, double rate, const Span<T>& parameters, const Span<const T>& gradient) {
    begin(exec, nullptr);
    step(exec, rate, 0, parameters, gradient);
  }
};

/// For a model of this layout. Throws Error when an option is out of range, or for an unknown name, listing the known.
std::unique_ptr<Optimiser<float>> make_optimiser(const Layout& layout, const OptimiserOptions& options);

/// [layout.count()]: 1 where weight decay acts.
Vector<std::uint8_t> decayed_elements(const Layout& layout, bool vectors);

}  // namespace gradcomp::nn
