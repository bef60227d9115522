#pragma once
// ring: 2 (P - 1) hops round a ring of P ranks. The vector is cut into P parts. In the first half of the hops every
// part is reduced on its way round; in the second half the results go round (Patarasuk & Yuan, Bandwidth optimal
// all-reduce algorithms for clusters of workstations, JPDC 2009). A rank sends 2 (P - 1) / P of the message. The terms
// are added in the order of the ring, from another rank on for each part. With 16-bit floats it shows what a library's
// ring does to a gradient: P - 1 roundings of a sum, whereas `rank_order` has one.
#include "gradcomp/exchange/detail/hops.hpp"

namespace gradcomp::reducers {
ReducerEntry ring();

/// The plan of `rank` among `ranks`.
HopPlan round_the_ring(int rank, int ranks);
}  // namespace gradcomp::reducers
