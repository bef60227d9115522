#pragma once
// Reductions of host numbers over ranks: times, counts, hashes. All functions are collective, and too slow for timed
// code.
#include <vector>

#include "gradcomp/comm/transport.hpp"

namespace gradcomp {

/// The maximum of each entry over ranks. All entries must be >= 0 (times, bytes), and all ranks must pass as many.
std::vector<double> max_over_ranks(Transport& comm, const std::vector<double>& values);

/// The minimum of each entry over ranks, under the same conditions.
std::vector<double> min_over_ranks(Transport& comm, const std::vector<double>& values);

/// The mean of each entry over ranks, rounded to a millionth.
std::vector<double> mean_over_ranks(Transport& comm, const std::vector<double>& values);

/// The sum of each entry over ranks.
std::vector<index_t> sum_over_ranks(Transport& comm, const std::vector<index_t>& values);

/// Whether `value` (a hash) is equal on all ranks; the answer is the same on every rank.
bool equal_over_ranks(Transport& comm, std::uint64_t value);

}  // namespace gradcomp
