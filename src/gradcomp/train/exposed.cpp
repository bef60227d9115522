#include "gradcomp/train/exposed.hpp"

#include <algorithm>

#include "gradcomp/comm/over_ranks.hpp"

namespace gradcomp::train {

Exposed split_exposed(Transport& comm, const std::vector<double>& exposed) {
  Exposed split{min_over_ranks(comm, exposed), mean_over_ranks(comm, exposed)};
  for (std::size_t i = 0; i < exposed.size(); ++i) {
    split.waiting[i] = std::max(0.0, split.waiting[i] - split.transfer[i]);  // the mean is rounded
  }
  return split;
}

}  // namespace gradcomp::train
