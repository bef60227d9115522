#pragma once
// hard_threshold: all entries of magnitude lambda or more, one constant for all tensors and the whole run (Sahu et al.,
// Rethinking gradient sparsification as total error minimization, NeurIPS 2021).
//
// Nothing is estimated and nothing adapts, so lambda is in the gradient's own units and must be chosen for the job:
// directly, or by the authors' rule lambda = 1 / (2 sqrt(k_ref)), k_ref the entries per step that a top-k of the same
// model would send. The count follows the gradient: it decays as training converges, and is n while gradients are large
// or lambda too small (8 n bytes, twice the dense size). There is no target density and hence no warm-up. An absolute
// compressor: after a step with the residual max |r| < lambda and ||r||^2 < n lambda^2, however large a was; what is
// sent and what stays add up to a bit for bit. The comparison is one of bit patterns, exact for denormals. (The
// distributed version of GRACE compares with the smaller of lambda and the signed maximum, so that a tensor of negative
// values is sent whole; this one does not.)
// Payload: as top_k's, 8 kept bytes (other index= and values= codings: coders/; a values= other than f32 leaves its
// rounding error as well). Passes: 2 reads and 1 write with the residual; as top_k's a read to choose.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
Entry hard_threshold();
}
