#include "gradcomp/strategy/strategies/synchronous.hpp"

#include "gradcomp/strategy/detail/every_step.hpp"

namespace gradcomp {

StrategyEntry strategies::synchronous() {
  return {"synchronous", "exchanges the gradient of every step after backward, without overlap", with_common({}),
          [](const StrategySetup& setup) { return std::make_unique<EveryStep>(setup, false); }};
}

}  // namespace gradcomp
