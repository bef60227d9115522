#include "gradcomp/strategy/strategies/overlapped.hpp"

#include "gradcomp/strategy/detail/every_step.hpp"

namespace gradcomp {

StrategyEntry strategies::overlapped() {
  return {"overlapped", "every step's gradient, each bucket as soon as backward has completed it", with_common({}),
          [](const StrategySetup& setup) { return std::make_unique<EveryStep>(setup, true); }};
}

}  // namespace gradcomp
