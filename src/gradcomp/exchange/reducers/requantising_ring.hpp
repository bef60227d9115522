#pragma once
// requantising_ring: a ring whose ranks decode what they receive, add their own share and compress the sum again. It
// shows what a codec costs where clusters reduce by rings (C-Coll, Huang et al., IPDPS 2024; DynamiQ, 2026). A bucket
// is cut into one stripe per rank (detail/stripes.hpp).
//   rounds 0 .. P-2  rank r compresses stripe r - round, from its own gradient and what it received, and sends it on
//   round P-1        rank r compresses stripe r + 1, to which all ranks have now added, and all receive it (allgatherv)
// out = what the last payloads decode to, divided by P. A rank sends 2 (P - 1) / P payloads, in P - 1 hops and an
// allgather. It compresses every stripe once, as a sum of 1 to P shares. So the errors of P compressions add up, and
// scales follow sums that grow.
//
// With feedback=residual each rank keeps what its own compressions lost, for every stripe, in units of the sum. As with
// every other reducer P out + sum of memories = sum of a. Other kinds, feedback.gamma and feedback.clip are refused,
// because they would scale what the other ranks have added.
#include "gradcomp/exchange/reducer.hpp"

namespace gradcomp::reducers {
ReducerEntry requantising_ring();
}
