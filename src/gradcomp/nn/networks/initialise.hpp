#pragma once
// Random initial weights, on the host: a pure function of (seed, segment, element).
#include "gradcomp/core/layout.hpp"

namespace gradcomp::nn {

/// Standard normal number of element `index` of the stream (seed, segment): two splitmix64 draws (Steele et al. 2014)
/// through the Box-Muller transform, in double.
double normal(std::uint64_t seed, index_t segment, index_t index);

/// Uniform number in (0, 1] of element `index` of the stream (seed, segment), of the same draws.
double uniform(std::uint64_t seed, index_t segment, index_t index);

/// Matrices: normal with variance 2 / rows (the fan-in; He et al. 2015). Vectors: ones where the name ends in ".weight"
/// (the scale of a batch norm), else zeros.
template <class T>
void initialise_parameters(const Layout& layout, std::uint64_t seed, const HostSpan<T>& parameters);

}  // namespace gradcomp::nn
