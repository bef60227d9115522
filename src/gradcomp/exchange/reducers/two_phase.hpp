#pragma once
// two_phase: one bytes round; owners of stripes average and compress again (1-bit SGD; Seide et al., Interspeech 2014,
// section 3.3).
//   round 0  every rank compresses each stripe (detail/stripes.hpp) of its source; the payloads go to the owners
//            (alltoallv)
//   round 1  owners decode, average in rank order and compress the mean, which all ranks receive (allgatherv)
// out = what the owners' payloads decode to. A rank sends about 2 (W - 1) / W payloads for any number of ranks W; with
// the reducer allgather it receives W - 1. Everything is compressed twice, even on a single rank, which is the only
// owner.
//
// If the method runs with a memory, each owner feeds back its own error, whatever kind of feedback the workers have: it
// compresses mean + e and keeps e = mean + e - decoded, a residual of its stripe. So the sum over steps of out + mean
// over ranks of the memories + the owners' residuals = the sum of the mean gradients. reducer.owner_feedback=none:
// owners have no residual, and what the second compression loses is lost. The second compression uses the random
// numbers of a rank W + owner.
//
// Reported bytes: payloads of all stripes, and the payload of the own stripe's mean; each has a header.
#include "gradcomp/exchange/reducer.hpp"

namespace gradcomp::reducers {
ReducerEntry two_phase();
}
