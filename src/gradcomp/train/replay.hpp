#pragma once
// Reads the slices of an earlier run, step by step, so that adaptive importance sampling can be repeated bit for bit.
#include <string>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp::train {

/// The number of slices in each step of rank `rank` of `ranks`, for the method `label` with this seed, as the result
/// file at `path` has it. Throws Error if the file does not have it, or if it was made with another number of ranks.
std::vector<index_t> recorded_slices(const std::string& path, const std::string& label, std::uint64_t seed, int rank,
                                     int ranks);

}  // namespace gradcomp::train
