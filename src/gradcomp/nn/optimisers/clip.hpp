#pragma once
// Gradient clipping by global norm (Pascanu, Mikolov, Bengio 2013, algorithm 1).
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp::nn {

class NormClip {
 public:
  /// For a gradient that arrives in these parts, in order and without gaps, of so many elements each.
  explicit NormClip(const std::vector<index_t>& parts);
  /// For one that arrives whole.
  explicit NormClip(index_t count) : NormClip(std::vector<index_t>{count}) {}

  /// Takes in the part that begins at element `offset`: 1 read.
  void observe(const Exec& exec, index_t offset, const Span<const float>& part);

  /// After all parts were observed: multiplies `gradient`, or a range of it, by limit / norm where the norm of the
  /// whole is above `limit`: 1 read and 1 write. The norm is a sum in double in a fixed order, for any number of
  /// threads. Does not wait for `exec`.
  void scale(const Exec& exec, const Span<float>& gradient, double limit);

  /// Both, for a gradient that arrives whole.
  void run(const Exec& exec, const Span<float>& gradient, double limit) {
    observe(exec, 0, gradient);
    scale(exec, gradient, limit);
  }

 private:
  struct Part {
    index_t offset, count, tile;  ///< tile: its first in m_partial
  };
  std::vector<Part> m_parts;
  Vector<double> m_partial;  ///< sums of squares of tiles
  Vector<float> m_scale;     ///< [1]
};

}  // namespace gradcomp::nn
