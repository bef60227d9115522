#pragma once
// The input of every case: a synthetic gradient, the same for all methods and on all devices.
#include "gradcomp/core/types.hpp"

namespace gradcomp::bench {

/// `count` values, Laplace-distributed around zero (the body of real gradients is closer to it than to a Gaussian;
/// Abdelmoniem et al., SIDCo, MLSys 2021), of scale 1e-3. A pure function of (seed, index).
Vector<float> laplace_gradient(const Exec& exec, index_t count, std::uint64_t seed);

}  // namespace gradcomp::bench
