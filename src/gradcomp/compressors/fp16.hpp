#pragma once
// fp16: the dense control in IEEE half precision.
//
// Message: n values a/W, W ranks, rounded to nearest even; the sum (Transport::sum() says how it is formed)
// is the mean. The division comes before the cast, so the mean cannot overflow: |a| beyond the format's largest finite
// value saturates there instead of becoming infinite, and only a gradient that is not finite skips the step.
// Rounding error of one value: at most 2^-11 relative in [6.1e-5, 65504], 2^-25 absolute below (half a unit).
// Feedback (off by default): the residual keeps a - W decode(sent), exactly. Bytes: 2 n. Passes: 1 read, 1/2 write.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
Entry fp16();
}
