#pragma once
// The interface of optimisers. An optimiser updates parameters with a mean gradient, range by range, as means arrive.
#include <memory>
#include <string>

#include "gradcomp/core/layout.hpp"
#include "gradcomp/core/memories.hpp"

namespace gradcomp::nn {

/// By what sgd changes the parameters, apart from the factor -rate. g: gradient with weight decay; v = momentum v + g.
enum class MomentumForm : std::uint8_t {
  heavy_ball,  ///< v
  nesterov,    ///< g + momentum v (Sutskever et al. 2013, as torch.optim.SGD)
  powersgd,    ///< g + v (Vogels et al., NeurIPS 2019, algorithm 2; "nesterov" in their code)
};
/// The form that --nesterov=off, on or powersgd means. Throws Error that lists these names for any other name.
MomentumForm momentum_form(const std::string& nesterov);

/// Options of all optimisers.
struct OptimiserOptions {
  std::string name = "sgd";                      ///< sgd or adamw
  double momentum = 0.9;                         ///< sgd only; 0 if the method's feedback has a momentum
  MomentumForm form = MomentumForm::heavy_ball;  ///< sgd only
  double beta1 = 0.9;                            ///< adamw only: weight of the previous mean of gradients
  double beta2 = 0.999;                          ///< adamw only: weight of the previous mean of squared gradients
  double epsilon = 1e-8;                         ///< adamw only
  double weight_decay = 5e-4;
  bool decay_vectors = false;  ///< also decay biases and scales (Goyal et al. 2017 advise against it for batch norm)
};

template <class T>
class Optimiser {
 public:
  virtual ~Optimiser() = default;

  /// Begins an update, of which the step()s follow.
  virtual void begin(const Exec& exec) = 0;

  /// Updates `parameters`, the elements [offset, offset + parameters.extent(0)) of the layout, from their gradient.
  virtual void step(const Exec& exec, double rate, index_t offset, const Span<T>& parameters,
                    const Span<const T>& gradient) = 0;

  /// What must survive from step to step, such as the momentum (core/memories.hpp).
  virtual Memories memories() const = 0;

  /// Does a whole update of all parameters.
  void step(const Exec& exec, double rate, const Span<T>& parameters, const Span<const T>& gradient) {
    begin(exec);
    step(exec, rate, 0, parameters, gradient);
  }
};

/// Makes the optimiser options.name for a model with this layout. Throws Error for an unknown name (it lists the known
/// ones), or if an option is out of range.
std::unique_ptr<Optimiser<float>> make_optimiser(const Layout& layout, const OptimiserOptions& options);

/// [layout.count()]: 1 for elements with weight decay: those of matrices and, if `vectors`, all others too.
Vector<std::uint8_t> decayed_elements(const Layout& layout, bool vectors);

}  // namespace gradcomp::nn
