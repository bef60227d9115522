#pragma once
// The numerics card of dense reductions: how far the mean that they give is from the exact one, for numbers of ranks
// that a machine does not have, by simulation.
#include <optional>

#include "gradcomp/core/types.hpp"
#include "gradcomp/exchange/method_spec.hpp"

namespace gradcomp {

/// Laplace(1) samples, equal on any device: element i of rank r depends on (seed, r, i) alone.
void fill_laplace(const Exec& exec, const Span<float>& x, std::uint64_t seed, int rank);

/// ||mean - exact mean|| / ||exact mean|| of fill_laplace() gradients. Nothing for methods other than the dense
/// controls and for reducers other than `rank_order`, `ring` and `recursive_doubling`: the order of `allreduce` is the
/// library's. Each rank sends its share gradient / ranks in the format of the method. `rank_order` adds in 32 bits and
/// rounds once; the other two round every partial sum. `ranks` is a power of two.
std::optional<double> simulated_error(const Exec& exec, const MethodSpec& method, int ranks, std::uint64_t seed);

}  // namespace gradcomp
