#pragma once
// hierarchical: an allreduce on two levels, for N nodes with L ranks each. Inside each node, parts are added on their
// way round a ring, so that each rank ends with one L-th of the node's sum. This part goes round a ring of the ranks
// that have the same place in the other nodes. Then the parts go round inside the node. A rank sends 2 (N - 1) / N of
// an L-th of the message out of its node, so a node sends as much as one rank of a flat ring (Jia et al., Highly
// scalable deep learning training system with mixed-precision, 2018, section 3.3; the hierarchical allreduce of NCCL
// and Horovod).
//
// reducer.inside and reducer.across say in how many bits 32-bit values travel on each level. So a slow network may
// carry 16 or 8 bits of sums that nodes form in 32 (ZeRO++, Wang et al. 2023, has a width for each level too).
//
// It carries summable messages; 16-bit floats are rounded in every hop, as in `ring`. reducer.ranks_per_node emulates
// nodes for trials on one machine; by default it is that of the machine.
#include "gradcomp/exchange/detail/hops.hpp"

namespace gradcomp::reducers {

/// The plan of `rank` among `ranks`. `per_node` divides `ranks`; consecutive ranks form a node. `inside`, `across`:
/// Hop::as of the hops on each level.
HopPlan two_level(int rank, int ranks, int per_node, Width inside = Width::own, Width across = Width::own);

ReducerEntry hierarchical();

}  // namespace gradcomp::reducers
