#include "gradcomp/exchange/reducers/recursive_doubling.hpp"

#include <bit>

namespace gradcomp {

/// The first 2 (ranks - 2^k) ranks form pairs: the even rank hands its message over, and the odd one takes part for
/// both.
HopPlan reducers::doubling(int rank, int ranks) {
  const int core = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks))), pairs = ranks - core;
  const bool paired = rank < 2 * pairs, waits = paired && rank % 2 == 0;
  const int place = paired ? rank / 2 : rank - pairs;  // among the ranks that take part
  HopPlan plan;
  if (pairs > 0) {
    plan.hops.push_back(!paired ? Hop() : waits ? Hop{.to = rank + 1} : Hop{.from = rank - 1, .combines = true});
  }
  for (int distance = 1; distance < core; distance *= 2) {
    const int other = place ^ distance, peer = other < pairs ? 2 * other + 1 : other + pairs;
    plan.hops.push_back(waits ? Hop() : Hop{.to = peer, .from = peer, .combines = true});
  }
  if (pairs > 0) plan.hops.push_back(!paired ? Hop() : waits ? Hop{.from = rank + 1} : Hop{.to = rank - 1});
  return plan;
}

ReducerEntry reducers::recursive_doubling() {
  return hop_entry(
      "recursive_doubling",
      "pairs of ranks at distances 1, 2, 4, ... exchange whole messages and add them; few hops, for small messages",
      doubling);
}

}  // namespace gradcomp
