#pragma once
// overlapped: a bucket travels as soon as backward has completed it, and the computation of the rest hides it; the
// update when all have come.
#include "gradcomp/strategy/strategy.hpp"

namespace gradcomp::strategies {
StrategyEntry overlapped();
}
