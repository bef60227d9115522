#include "gradcomp/train/exposed.hpp"

#include <algorithm>

#include "gradcomp/comm/over_ranks.hpp"

namespace gradcomp::train {

Exposed split_exposed(Transport& comm, const std::vector<double>& exposed, int workers) {
  const bool counts = comm.rank() < workers;
  const std::vector<double> longest(exposed.size(), 1e9), nothing(exposed.size(), 0);
  Exposed split{min_over_ranks(comm, counts ? exposed : longest), mean_over_ranks(comm, counts ? exposed : nothing)};
  const double per_worker = static_cast<double>(comm.size()) / workers;
  for (std::size_t i = 0; i < exposed.size(); ++i) {
    split.waiting[i] = std::max(0.0, per_worker * split.waiting[i] - split.transfer[i]);  // the mean is rounded
  }
  return split;
}

}  // namespace gradcomp::train
