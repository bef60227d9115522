#include "gradcomp/exchange/reducers/ring.hpp"

namespace gradcomp {

/// Rank r begins with part r and ends with the complete sum of part r + 1.
HopPlan reducers::round_the_ring(int rank, int ranks) {
  HopPlan plan;
  plan.parts = ranks;
  for (int hop = 0; hop < 2 * (ranks - 1); ++hop) {
    const bool adds = hop < ranks - 1;
    const int sent = adds ? rank - hop : rank + 1 - (hop - (ranks - 1));
    plan.hops.push_back(
        {(rank + 1) % ranks, (rank + ranks - 1) % ranks, (sent + ranks) % ranks, (sent - 1 + ranks) % ranks, adds});
  }
  return plan;
}

ReducerEntry reducers::ring() {
  return hop_entry("ring", "parts go round a ring and each rank adds its share; 16-bit sums are rounded in every hop",
                   round_the_ring);
}

}  // namespace gradcomp
