#pragma once
// fp32: the dense control, an allreduce of the gradient itself.
//
// Message: without a memory, the gradient's own array (nothing is copied); with one, a copy of a that is NaN where the
// gradient is not finite. finish() divides the sum by the ranks and looks for non-finite sums in the same pass. NaN and
// infinity on any rank survive every order of summation, so all ranks see them, and an overflow of the sum. Everything
// is sent, so a residual is zero after each step. Bytes: 4 n. Passes to compress: none.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
Entry fp32();
}
