#include "gradcomp/strategy/strategies/synchronous.hpp"

#include "gradcomp/strategy/detail/every_step.hpp"

namespace gradcomp {

StrategyEntry strategies::synchronous() {
  return {"synchronous", "every step's gradient, exchanged after backward; nothing overlaps", with_common({}),
          [](const StrategySetup& setup) { return std::make_unique<EveryStep>(setup, false); }};
}

}  // namespace gradcomp
