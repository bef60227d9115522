#pragma once
// two_phase: one bytes round, averaged and compressed again by owners of stripes (1-bit SGD; Seide et al., Interspeech
// 2014, section 3.3).
//   round 0  every rank compresses each stripe (detail/stripes.hpp) of its source; the payloads go to the owners
//            (alltoallv)
//   round 1  owners decode, average in rank order, compress the mean, and all receive it (allgatherv)
// out = what the owners' payloads decode to. A rank sends about 2 (W - 1) / W payloads, whatever the number of ranks W;
// with reducer allgather it receives W - 1. All is compressed twice: on one rank too, which is the only owner.
//
// When the method runs with a memory, each owner feeds back its own error: it compresses mean + e and keeps
// e = mean + e - decoded, a residual of its stripe, whatever the kind of the workers' feedback. So the sum over steps
// of out + mean over ranks of the memories + the owners' residuals = the sum of the mean gradients.
// reducer.owner_feedback=none: no residual at the owners; what the second compression loses is lost.
// Random numbers of the second compression are those of a rank W + owner.
//
// Bytes that are reported: payloads of all stripes, and that of the own stripe's mean; each has a header.
#include "gradcomp/exchange/reducer.hpp"

namespace gradcomp::reducers {
ReducerEntry two_phase();
}
