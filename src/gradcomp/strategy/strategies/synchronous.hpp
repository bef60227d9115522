#pragma once
// synchronous: exchanges all buckets after backward, one after the other, and waits for the exchange of each round.
// Then comes the update. Nothing overlaps: it is the plain reference, and the easiest strategy to profile.
#include "gradcomp/strategy/strategy.hpp"

namespace gradcomp::strategies {
StrategyEntry synchronous();
}
