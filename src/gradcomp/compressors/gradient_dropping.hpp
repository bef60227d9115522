#pragma once
// gradient_dropping: sends what lies above a threshold that is taken from a sample (Aji & Heafield, Sparse
// communication for distributed gradient descent, EMNLP 2017).
//
// m = min(sample, n) magnitudes are sorted; T = sample[max(0, floor(m (1 - ratio)) - 1)]. All |a| > T are sent, and the
// rest stays. kept / k has a deviation of 1 / sqrt(m ratio).
//
// variant=paper samples every floor(n / m)-th element from the first on, as the authors do. Nothing bounds the number
// of sent entries.
//
// variant=fixed (default) has an odd stride that reaches the segment's end, and a random start in each step. Without
// them, data with the period of the stride would fool the sample in every step, and a stride of 1 would never see the
// end of a segment below 2 m. If fewer than k / 2 or more than 2 k entries lie above T, exactly the k largest are sent.
// Ties cause this: by the paper's rule, a constant gradient is never sent.
//
// Guards: if there are at most k nonzeros, they are sent as they are. Segments with fewer than max(1024, 2 / ratio)
// elements send exactly k.
//
// The authors' drop rate of .99 is ratio=0.01. Marian makes 100 dense steps at the start: warmup=dense. It is off by
// default, because all methods here start in the same way.
//
// Payload: that of top_k, 8 bytes per entry. Passes: 2 reads and 1 write with the residual, and the sample; as in
// top_k, a read to choose.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
Entry gradient_dropping();
}
