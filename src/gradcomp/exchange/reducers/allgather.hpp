#pragma once
// allgather: one bytes round. Every rank receives all payloads and adds them in rank order: out = sum of decoded / P.
// For methods that send signs, out is the sign of the sum.
#include "gradcomp/exchange/reducer.hpp"

namespace gradcomp::reducers {
ReducerEntry allgather();
}
