#pragma once
// Host numbers agreed over ranks: times, counts, hashes. Collective, and not for the timed path.
#include <vector>

#include "gradcomp/comm/transport.hpp"

namespace gradcomp {

/// The largest of each entry over ranks. All entries must be >= 0 (times, bytes), and the length equal on all ranks.
std::vector<double> max_over_ranks(Transport& comm, const std::vector<double>& values);

/// The smallest of each entry over ranks; the same rules.
std::vector<double> min_over_ranks(Transport& comm, const std::vector<double>& values);

/// The mean of each entry over ranks, rounded to a millionth.
std::vector<double> mean_over_ranks(Transport& comm, const std::vector<double>& values);

/// The sum of each entry over ranks.
std::vector<index_t> sum_over_ranks(Transport& comm, const std::vector<index_t>& values);

/// True on every rank when `value` (a hash) is equal on all ranks.
bool equal_over_ranks(Transport& comm, std::uint64_t value);

}  // namespace gradcomp
