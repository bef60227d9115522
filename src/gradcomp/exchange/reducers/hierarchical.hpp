#pragma once
// hierarchical: an allreduce on two levels. Inside each node, parts are added up on their way round a ring, so that
// each of its L ranks ends with one L-th of the node's sum; that part goes round a ring of the ranks with the same
// place in the other nodes; then the parts go round inside the node. A rank sends 2 (N - 1) / N of an L-th of the
// message out of its node, N nodes, so a node sends what one rank of a flat ring would (Jia et al., Highly scalable
// deep learning training system with mixed-precision, 2018, section 3.3; NCCL's and Horovod's hierarchical allreduce).
//
// reducer.inside and reducer.across say in how many bits 32-bit values travel on each level: a slow network may carry
// 16 or 8 bits of sums that nodes form in 32 (as ZeRO++, Wang et al. 2023, has a width for each level).
//
// Summable messages; 16-bit floats are rounded in every hop, as in `ring`. reducer.ranks_per_node: of the machine, or
// emulated, for trials on one.
#include "gradcomp/exchange/detail/hops.hpp"

namespace gradcomp::reducers {

/// `per_node` divides `ranks`; the ranks of a node follow each other. `inside`, `across`: Hop::as of their hops.
HopPlan two_level(int rank, int ranks, int per_node, Width inside = Width::own, Width across = Width::own);

ReducerEntry hierarchical();

}  // namespace gradcomp::reducers
