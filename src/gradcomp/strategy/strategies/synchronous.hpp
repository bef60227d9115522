#pragma once
// synchronous: all buckets after backward, one after the other, each round waiting for its exchange; then the update.
// Nothing overlaps: the plain reference, and the easiest strategy to profile.
#include "gradcomp/strategy/strategy.hpp"

namespace gradcomp::strategies {
StrategyEntry synchronous();
}
