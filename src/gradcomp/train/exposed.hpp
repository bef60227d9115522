#pragma once
// Splits the exposed part of exchanges into transfer and waiting, without comparing clocks. The rank that comes last to
// an exchange waits for nobody: so the shortest exposed time of a step is the transfer, and the rest of a longer one is
// waiting.
#include <vector>

#include "gradcomp/comm/transport.hpp"

namespace gradcomp::train {

struct Exposed {
  std::vector<double> transfer;  ///< of each step: the minimum over ranks
  std::vector<double> waiting;   ///< of each step: the mean over ranks of the rest
};

/// `exposed`: of each step on this rank, which counts if it is one of the first `workers`. Collective.
Exposed split_exposed(Transport& comm, const std::vector<double>& exposed, int workers);

}  // namespace gradcomp::train
