#pragma once
// gtop_k: one bytes round of sparse entries, merged two by two over a binomial tree whose hops keep the k largest sums,
// and handed down the same tree (gTop-k; Shi et al., ICDCS 2019). Any number of ranks: 2 ceil(log2 P) hops.
//
// A merge adds equal indices and drops all but k entries, k the larger count of the two lists or the layout's target.
//   variant=fixed: the merging rank returns what it drops to its own memory, and senders restore nothing, so that
//     P out + sum of memories = sum of a.
//   variant=paper: each rank returns those of its own entries whose index is not in the final list. An entry that an
//     early merge dropped, while its index survived through another subtree, is then lost.
#include "gradcomp/exchange/reducer.hpp"

namespace gradcomp::reducers {
ReducerEntry gtop_k();
}
