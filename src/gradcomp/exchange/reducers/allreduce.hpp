#pragma once
// allreduce: one to three summable rounds, each one allreduce: dense, linear and low-rank methods.
#include "gradcomp/exchange/reducer.hpp"

namespace gradcomp::reducers {
ReducerEntry allreduce();
}
