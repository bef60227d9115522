#pragma once
// gtop_k: one bytes round of sparse entries. Lists are merged two by two over a binomial tree, whose hops keep the k
// largest sums, and the result goes down the same tree (gTop-k; Shi et al., ICDCS 2019). It takes any number of ranks
// P, in 2 ceil(log2 P) hops.
//
// A merge adds equal indices and drops all but k entries; k is the larger count of the two lists, or the layout's
// target if that is larger.
//   variant=fixed: the merging rank returns what it drops to its own memory, and senders restore nothing, so that
//     P out + sum of memories = sum of a.
//   variant=paper: each rank returns those of its own entries whose index is not in the final list. If an early merge
//     dropped an entry but its index survived through another subtree, this entry is lost.
#include "gradcomp/exchange/reducer.hpp"

namespace gradcomp::reducers {
ReducerEntry gtop_k();
}
