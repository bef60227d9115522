#pragma once
// ok_topk: one bytes round of sparse entries, which owners of index ranges add (Ok-Topk; Li & Hoefler, PPoPP 2022).
//   round 0  every `interval` steps: new boundaries of the ranges, each the mean over ranks of the boundary that splits
//            the rank's entries evenly
//   round 1  entries go to their owners (alltoallv)
//   round 2  owners add them in rank order; a histogram of the sums' magnitudes over all owners (allreduce)
//   round 3  sums above the common threshold go to all ranks (allgatherv): k in all, the largest count of a message or
//            the layout's target, but up to one entry per rank fewer
// An owner returns what it drops to its own memory, and senders restore nothing: P out + sum of memories = sum of a.
// select=off keeps all sums; this is an exact sparse allreduce without round 2.
//
// The paper searches the threshold every 32 steps and restores dropped entries at their senders. A histogram of 16 KiB
// in every step needs neither an estimate nor a second search.
#include "gradcomp/exchange/reducer.hpp"

namespace gradcomp::reducers {
ReducerEntry ok_topk();
}
