#pragma once
// recursive_doubling: log2 P hops. In each, two ranks exchange the whole message and both add, at distances 1, 2, 4 ..
// (Thakur, Rabenseifner & Gropp, Optimization of collective communication operations in MPICH, IJHPCA 2005). The hops
// are few, which suits small messages; a rank sends log2 P messages. If P is no power of two, P - 2^floor(log2 P) ranks
// first hand their message to a neighbour and at the end get the result from it: two hops more.
#include "gradcomp/exchange/detail/hops.hpp"

namespace gradcomp::reducers {
ReducerEntry recursive_doubling();

/// The plan of `rank` among `ranks`.
HopPlan doubling(int rank, int ranks);
}  // namespace gradcomp::reducers
