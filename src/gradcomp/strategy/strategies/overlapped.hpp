#pragma once
// overlapped: a bucket travels as soon as backward has completed it, and the rest of backward hides its exchange. The
// update comes when all buckets have arrived.
#include "gradcomp/strategy/strategy.hpp"

namespace gradcomp::strategies {
StrategyEntry overlapped();
}
