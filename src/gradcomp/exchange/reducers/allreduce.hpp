#pragma once
// allreduce: one to three summable rounds, each of which is one allreduce. It carries dense, linear and low-rank
// methods.
#include "gradcomp/exchange/reducer.hpp"

namespace gradcomp::reducers {
ReducerEntry allreduce();
}
