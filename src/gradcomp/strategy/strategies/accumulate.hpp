#pragma once
// accumulate: the gradients of so many steps are summed up before one exchange and one update of their mean: a control
// that sends as little as a compressor by exchanging rarely. Parameters stay the same within a group.
#include "gradcomp/strategy/strategy.hpp"

namespace gradcomp::strategies {
StrategyEntry accumulate();
}
