#pragma once
// accumulate: sums the gradients of several steps, and exchanges and applies their mean once. It is a control that
// sends as little as a compressor, by exchanging rarely. Parameters stay the same between two exchanges.
#include "gradcomp/strategy/strategy.hpp"

namespace gradcomp::strategies {
StrategyEntry accumulate();
}
