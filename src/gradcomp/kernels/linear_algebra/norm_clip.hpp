#pragma once
// Gradient clipping by the global L2 norm (Pascanu, Mikolov, Bengio 2013, algorithm 1).
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp::kernels {

class NormClip {
 public:
  /// For a gradient that consists of parts with these numbers of elements, in order and without gaps.
  explicit NormClip(const std::vector<index_t>& parts);
  /// For a gradient in one part.
  explicit NormClip(index_t count) : NormClip(std::vector<index_t>{count}) {}

  /// Sums the squares of the part that begins at element `offset`, with one read of the part.
  void observe(const Exec& exec, index_t offset, const Span<const float>& part) const;

  /// Call it after all parts were observed. If the norm of the whole gradient is above `limit`, multiplies `gradient`,
  /// which is all or a range of it, by limit / norm, with one read and one write. The norm is summed in double in a
  /// fixed order, so that it does not depend on the number of threads. Does not wait for `exec`.
  void scale(const Exec& exec, const Span<float>& gradient, double limit) const;

  /// Does both for a gradient in one part.
  void run(const Exec& exec, const Span<float>& gradient, double limit) const {
    observe(exec, 0, gradient);
    scale(exec, gradient, limit);
  }

 private:
  struct Part {
    index_t offset, count, tile;  ///< tile: number of its first tile in m_partial
  };
  std::vector<Part> m_parts;
  Vector<double> m_partial;  ///< sum of squares of each tile
  Vector<float> m_scale;     ///< [1]
};

}  // namespace gradcomp::kernels
