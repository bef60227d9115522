#pragma once
// allgather: one bytes round. Every rank receives all payloads and adds them in rank order: out = sum of 1/P decoded;
// of methods that send signs, the sign of the sum.
#include "gradcomp/exchange/reducer.hpp"

namespace gradcomp::reducers {
ReducerEntry allgather();
}
