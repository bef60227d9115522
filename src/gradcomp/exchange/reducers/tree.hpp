#pragma once
// tree: up a binomial tree to rank 0, which then holds the reduction, and down the same tree: 2 ceil(log2 P) hops, in
// each of which a rank sends or receives one whole message, or none.
#include "gradcomp/exchange/detail/hops.hpp"

namespace gradcomp::reducers {
ReducerEntry tree();
}
