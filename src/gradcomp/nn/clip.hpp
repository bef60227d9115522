#pragma once
// Gradient clipping by global norm (Pascanu, Mikolov, Bengio 2013, algorithm 1).
#include "gradcomp/core/types.hpp"

namespace gradcomp::nn {

class NormClip {
 public:
  /// For gradients of `count` elements.
  explicit NormClip(index_t count);

  /// Multiplies `gradient` by limit / ||gradient|| where its L2 norm is above `limit`: 1 read, and 1 read and 1 write.
  /// The norm is a sum in double in a fixed order, for any number of threads. Does not wait for `exec`.
  void run(const Exec& exec, const Span<float>& gradient, double limit);

 private:
  Vector<double> m_partial;  ///< sums of squares of tiles
  Vector<float> m_scale;     ///< [1]
};

}  // namespace gradcomp::nn
