#pragma once
// ok_topk: one bytes round of sparse entries, summed by owners of index ranges (Ok-Topk; Li & Hoefler, PPoPP 2022).
//   round 0  every `interval` steps: the ranges' boundaries, the mean of those that split each rank's entries evenly
//   round 1  entries to their owners (alltoallv)
//   round 2  owners sum in rank order; histogram of the sums' magnitudes over all owners (allreduce)
//   round 3  sums above the common threshold to all (allgatherv): k in all, the largest count of a message or the
//            layout's target, less at most one per rank
// An owner returns what it drops to its own memory, and senders restore nothing: P out + sum of memories = sum of a.
// select=off keeps all sums: an exact sparse allreduce, without round 2.
//
// The paper takes the threshold from a search every 32 steps and restores dropped entries at their senders; a histogram
// of 16 KiB in every step needs neither an estimate nor a second search.
#include "gradcomp/exchange/reducer.hpp"

namespace gradcomp::reducers {
ReducerEntry ok_topk();
}
