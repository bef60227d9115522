#pragma once
// gradient_dropping: what lies above a threshold taken from a sample (Aji & Heafield, Sparse communication for
// distributed gradient descent, EMNLP 2017).
//
// m = min(sample, n) magnitudes are sorted; T = sample[max(0, floor(m (1 - ratio)) - 1)]; all |a| > T are sent, the
// rest stays. kept / k has a deviation of 1 / sqrt(m ratio).
//
// variant=paper: every floor(n / m)-th element from the first on, as written; nothing bounds what is sent.
//
// variant=fixed (default): an odd stride that reaches the segment's end, and a random start in each step, since data
// with the period of the stride fools a fixed sample for ever, and strides of 1 never see the end of segments below 2
// m; with less than k / 2 or more than 2 k above T (a constant gradient is never sent by the paper's rule, ties)
// exactly the k largest are sent.
//
// Guards: at most k nonzeros are sent as they are; segments below max(1024, 2 / ratio) give exactly k.
//
// The authors' drop rate of .99 is ratio=0.01; the 100 dense steps at the start that Marian makes are warmup=dense, off
// by default, as all methods here start alike.
//
// Payload: as top_k's, 8 bytes an entry. Passes: 2 reads and 1 write with the residual, the sample; as
// top_k's a read to choose.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
Entry gradient_dropping();
}
