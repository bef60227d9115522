#pragma once
// Slices of an earlier run, step by step: with them a run of adaptive importance sampling can be repeated bit for bit.
#include <string>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp::train {

/// What the result file at `path` says that rank `rank` of `ranks` evaluated for the method `label` with this seed, by
/// step. Throws Error (one line) for a file that does not say it, or that is of another number of ranks.
std::vector<index_t> recorded_slices(const std::string& path, const std::string& label, std::uint64_t seed, int rank,
                                     int ranks);

}  // namespace gradcomp::train
