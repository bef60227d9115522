#pragma once
// terngrad: every element is sent as -s, 0 or +s, with a scaler s for each tensor (Wen et al., NeurIPS 2017). W is the
// number of ranks.
//
// a is clipped to +-clip sigma, sigma the tensor's standard deviation (clip = 2.5; 0: no clipping). q = sign(a) with
// probability |a| / s, otherwise 0. E[decoded] = clip(a), so the method is unbiased for clip=0. The variance of an
// element is |a| (s - |a|), hence w <= sqrt(n). With a residual it diverges, or learns nothing if it is scaled by 1 /
// (1 + w); so only feedback=none is allowed.
// s = min(max |a|, clip sigma). If sigma is 0 (one element, or equal elements), nothing is clipped and s = max |a|.
// Such tensors are then decoded exactly, as if they were sent raw.
//   code=sum    scaler sharing: round 0 is the maximum of the ranks' s (f32 per tensor), round 1 the sum of their q
//               (i8 per element), for at most 127 ranks. out = s / W * sum.
//   code=2bit   each rank's own s and 2-bit codes, gathered: ceil(n / 4) + 4 bytes per tensor.
//   code=base3  the same with five codes in a byte: ceil(n / 5) + 4 bytes.
// Only code=sum shares its scaler: a round of maxima before a gathered one would need a reducer of both kinds, and
// there is none. A tensor of zeros has s = 0; otherwise s is at least 2^-90 (still unbiased). NaN and infinity flag the
// step.
//
// Passes (R: read, W: write): 2R; code=sum writes n bytes, and decodes them with 1/4 R + 1W.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

Entry terngrad();

}  // namespace gradcomp::compressors
