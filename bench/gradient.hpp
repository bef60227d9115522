#pragma once
// The gradients that cases read. They are the same for all methods and on all devices.
#include <cstdint>
#include <memory>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp::bench {

/// `count` values with a Laplace distribution around zero, of scale 1e-3 (the body of real gradients is closer to it
/// than to a Gaussian; Abdelmoniem et al., SIDCo, MLSys 2021). A pure function of (seed, index).
Vector<float> laplace_gradient(const Exec& exec, index_t count, std::uint64_t seed);

/// The gradients of successive steps, which start again from the first after the last, always in the same memory. So a
/// method that remembers the last step (a threshold, a factor) gets another gradient in the next one, as in a training.
class GradientStream {
 public:
  GradientStream() = default;

  /// `length` synthetic gradients, of which the first is laplace_gradient(). They move on a circle: gradient t is
  /// (1 + sin(w) / 4) (cos(w) x + sin(w) y) with w = 2 pi t / length, where x and y are two independent
  /// laplace_gradient()s. So the norm (by up to 22 % between neighbours of 8), the shape (also of the tail) and the
  /// places of large values change.
  GradientStream(const Exec& exec, index_t count, std::uint64_t seed, index_t length);

  /// The first `length` recorded gradients, which have equal sizes, or all of them if there are fewer.
  using Recorded = std::shared_ptr<const std::vector<std::vector<float>>>;
  GradientStream(const Exec& exec, Recorded recorded, index_t length);

  /// Goes back to the first gradient.
  Span<const float> rewind(const Exec& exec);
  /// Goes to the next gradient, and waits for it.
  Span<const float> next(const Exec& exec);

  index_t length() const { return m_length; }

 private:
  void write(const Exec& exec, index_t step);

  Vector<float> m_now, m_x, m_y;  ///< x, y: only of synthetic streams of several gradients
  Recorded m_recorded;
  index_t m_length = 0, m_step = 0;
};

}  // namespace gradcomp::bench
