#pragma once
// bf16: the dense control in bfloat16.
//
// Message: n values a/W, W ranks, rounded to nearest even; the sum (Transport::sum() says how it is formed)
// is the mean. The division comes before the cast, so the mean cannot overflow: |a| beyond the format's largest finite
// value saturates there instead of becoming infinite, and only a gradient that is not finite skips the step.
// Rounding error of one value: at most 2^-8 relative, in the whole range of float (half a unit).
// Feedback (off by default): the residual keeps a - W decode(sent), exactly. Bytes: 2 n. Passes: 1 read, 1/2 write.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
Entry bf16();
}
