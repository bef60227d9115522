#include "gradcomp/strategy/strategies/overlapped.hpp"

#include "gradcomp/strategy/detail/every_step.hpp"

namespace gradcomp {

StrategyEntry strategies::overlapped() {
  return {"overlapped", "exchanges the gradient of every step, each bucket as soon as backward has completed it",
          with_common({}), [](const StrategySetup& setup) { return std::make_unique<EveryStep>(setup, true); }};
}

}  // namespace gradcomp
