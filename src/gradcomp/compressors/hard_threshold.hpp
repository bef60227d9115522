#pragma once
// hard_threshold: sends all entries of magnitude lambda or more; lambda is one constant for all tensors and the whole
// run (Sahu et al., Rethinking gradient sparsification as total error minimization, NeurIPS 2021).
//
// Nothing is estimated and nothing adapts. So lambda is in units of the gradient and must be chosen for the job:
// directly, or by the authors' rule lambda = 1 / (2 sqrt(k_ref)), where k_ref is the number of entries per step that a
// top-k of the same model would send. The count follows the gradient: it falls as training converges, and it is n if
// gradients are large or lambda is too small (8 n bytes, twice the dense size). There is no target density and hence no
// warm-up.
//
// The compressor is absolute: after a step with the residual, max |r| < lambda and ||r||^2 < n lambda^2, however large
// a was. What is sent and what stays add up to a, bit for bit. Magnitudes are compared as bit patterns, which is exact
// for denormals. The distributed version of GRACE compares with the smaller of lambda and the signed maximum, so that
// it sends a tensor of negative values whole; this one does not.
//
// Payload: that of top_k, 8 kept bytes (index= and values= choose other codings: coders/). With another coding than
// values=f32, the memory also keeps the rounding error. Passes: 2 reads and 1 write with the residual; as in top_k, a
// read to choose.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
Entry hard_threshold();
}
