// synchronous: exchanges all buckets after backward, one after the other, and waits for the exchange of each round.
// Then comes the update. Nothing overlaps: it is the plain reference, and the easiest strategy to profile.
#include "gradcomp/strategy/detail/every_step.hpp"
#include "gradcomp/strategy/strategy.hpp"

namespace gradcomp::strategies {

StrategyEntry synchronous() {
  return {"synchronous", "exchanges the gradient of every step after backward, without overlap", with_common({}),
          [](const StrategySetup& setup) { return std::make_unique<EveryStep>(setup, false); }};
}

}  // namespace gradcomp::strategies
