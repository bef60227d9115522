#pragma once
// The exposed part of exchanges, split without comparing clocks: the rank that comes last to an exchange waits for
// nobody, so the shortest exposed time of a step is that of the transfer, and what others have more of is waiting.
#include <vector>

#include "gradcomp/comm/transport.hpp"

namespace gradcomp::train {

struct Exposed {
  std::vector<double> transfer;  ///< of each step: the shortest over ranks
  std::vector<double> waiting;   ///< of each step: the mean over ranks of what is above that
};

/// `exposed`: of each step, on this rank, which counts for one of the first `workers`. Collective.
Exposed split_exposed(Transport& comm, const std::vector<double>& exposed, int workers);

}  // namespace gradcomp::train
