#pragma once
// Synthetic gradients: draws from the symmetric distributions that sparsifiers assume (Abdelmoniem et al., MLSys 2021,
// section 2), mixed with exact zeros on request.
#include <cstdint>
#include <span>
#include <string>

#include "gradcomp/core/types.hpp"

namespace gradcomp::data {

/// The distribution of the elements of a gradient.
struct Distribution {
  /// laplace: the magnitude is exponential with mean 1; gamma: the magnitude has a gamma distribution with the shape
  /// `parameter` and scale 1; pareto: the magnitude has a generalised Pareto distribution with xi = `parameter` and
  /// scale 1; gauss: the element is standard normal.
  enum class Kind : std::uint8_t { laplace, gamma, pareto, gauss };

  Kind kind = Kind::laplace;
  double parameter = 0;
  double zeros = 0;  ///< probability of an exact zero
  std::string name;  ///< as typed

  /// Parses laplace, gamma[:shape] (default 0.5), pareto[:xi] (default 0.3) or gauss, which +zeros:SHARE may follow,
  /// e.g. "pareto:0.1+zeros:0.24". Throws Error that says what is allowed.
  static Distribution parse(const std::string& text);
};

/// Fills `values` with the gradient number `draw`. Element i is a pure function of (seed, draw, i).
void fill(const Distribution& distribution, std::uint64_t seed, std::uint64_t draw, std::span<float> values);

}  // namespace gradcomp::data
