#pragma once
// What every case reads: gradients that are the same for all methods and on all devices.
#include <cstdint>
#include <memory>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp::bench {

/// `count` values, Laplace-distributed around zero (the body of real gradients is closer to it than to a Gaussian;
/// Abdelmoniem et al., SIDCo, MLSys 2021), of scale 1e-3. A pure function of (seed, index).
Vector<float> laplace_gradient(const Exec& exec, index_t count, std::uint64_t seed);

/// Gradients of successive steps, in turn and again from the first, always in the same memory. A method that remembers
/// the last step (a threshold, a factor) finds another gradient in the next one, as in a training.
class GradientStream {
 public:
  GradientStream() = default;

  /// `length` synthetic gradients. The first is laplace_gradient(); they drift on a circle: gradient t is (1 + sin(w) /
  /// 4) (cos(w) x + sin(w) y) with w = 2 pi t / length, x and y two independent laplace_gradient()s. So norm (up to 22
  /// % from one to the next of 8), shape (of the tail, too) and the places of large values change.
  GradientStream(const Exec& exec, index_t count, std::uint64_t seed, index_t length);

  /// The first `length` of recorded gradients, of equal sizes; all where there are fewer.
  using Recorded = std::shared_ptr<const std::vector<std::vector<float>>>;
  GradientStream(const Exec& exec, Recorded recorded, index_t length);

  /// Goes back to the first gradient.
  Span<const float> rewind(const Exec& exec);
  /// Goes to the next one; waits for it.
  Span<const float> next(const Exec& exec);

  index_t length() const { return m_length; }

 private:
  void write(const Exec& exec, index_t step);

  Vector<float> m_now, m_x, m_y;  ///< x, y: of a synthetic stream longer than 1
  Recorded m_recorded;
  index_t m_length = 0, m_step = 0;
};

}  // namespace gradcomp::bench
