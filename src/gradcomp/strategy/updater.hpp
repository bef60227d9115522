#pragma once
// The updater applies a mean gradient to parameters. It knows norms, clipping and the optimiser, but no exchange.
// Strategies drive it.
#include <memory>
#include <vector>

#include "gradcomp/kernels/linear_algebra/norm_clip.hpp"
#include "gradcomp/nn/optimisers/optimiser.hpp"

namespace gradcomp {

struct UpdateOptions {
  nn::OptimiserOptions optimiser;
  double clip = 0;  ///< largest L2 norm of the mean gradient; 0: no limit
};

class Updater {
 public:
  /// For a model of this layout. The mean arrives in parts with these numbers of elements, in order and without gaps.
  Updater(const Layout& layout, const std::vector<index_t>& parts, const UpdateOptions& options);

  /// Tells that the part of the mean that begins at element `offset` is complete; adds it to the norm.
  void observe(const Exec& exec, index_t offset, const Span<const float>& mean);

  /// Updates all parameters once, after all parts were observed. Clips `mean` in place.
  void apply(const Exec& exec, double rate, const Span<float>& parameters, const Span<float>& mean);

  Memories memories() const { return m_optimiser->memories(); }

 private:
  double m_clip;
  kernels::NormClip m_norm;
  std::unique_ptr<nn::Optimiser<float>> m_optimiser;
};

}  // namespace gradcomp
