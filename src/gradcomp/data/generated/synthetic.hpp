#pragma once
// Synthetic gradients: symmetric draws from the distributions that sparsifiers assume (Abdelmoniem et al., MLSys 2021,
// section 2), with a share of exact zeros on request.
#include <cstdint>
#include <span>
#include <string>

#include "gradcomp/core/types.hpp"

namespace gradcomp::data {

struct Distribution {
  /// Of |g|: exponential with mean 1; gamma with `parameter` as shape and scale 1; generalised Pareto with `parameter`
  /// as xi and scale 1; of g: the standard normal distribution.
  enum class Kind : std::uint8_t { laplace, gamma, pareto, gauss };

  Kind kind = Kind::laplace;
  double parameter = 0;
  double zeros = 0;  ///< probability of an exact zero
  std::string name;  ///< as typed

  /// laplace, gamma[:shape] (0.5), pareto[:xi] (0.3) or gauss, then +zeros:SHARE on request, e.g.
  /// "pareto:0.1+zeros:0.24". Throws Error that says what is allowed.
  static Distribution parse(const std::string& text);
};

/// Fills `values` with draw number `draw`: element i is a pure function of (seed, draw, i).
void fill(const Distribution& distribution, std::uint64_t seed, std::uint64_t draw, std::span<float> values);

}  // namespace gradcomp::data
