#pragma once
// Random initial weights, computed on the host. They are a pure function of (seed, segment, element).
#include "gradcomp/core/layout.hpp"

namespace gradcomp::nn {

/// Standard normal number for element `index` of the stream (seed, segment), in double: the Box-Muller transform of two
/// draws of SplitMix64 (Steele et al. 2014).
double normal(std::uint64_t seed, index_t segment, index_t index);

/// Uniform number in (0, 1] for element `index` of the stream (seed, segment), from the first of these draws.
double uniform(std::uint64_t seed, index_t segment, index_t index);

/// Initialises matrices with normal numbers of variance 2 / rows, where rows is the number of inputs (He et al. 2015).
/// Vectors become 1 if their name ends in ".weight" (scales of normalisations), otherwise 0.
template <class T>
void initialise_parameters(const Layout& layout, std::uint64_t seed, const HostSpan<T>& parameters);

}  // namespace gradcomp::nn
