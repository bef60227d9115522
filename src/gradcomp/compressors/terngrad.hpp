#pragma once
// terngrad: every element as -s, 0 or +s, with a scaler s per tensor (Wen et al., NeurIPS 2017).
//
// a is clipped to +-clip sigma, sigma the tensor's standard deviation (clip = 2.5; 0: off), and q = sign(a)
// with probability |a| / s, else 0. E[decoded] = clip(a), so it is unbiased for clip=0; the variance of an element is
// |a| (s - |a|), w <= sqrt(n): with a residual it diverges, or learns nothing when scaled by 1 / (1 + w), so that
// feedback=none is the only one.
// s = min(max |a|, clip sigma). Where sigma is 0 (one element, equal elements) nothing is clipped and s = max |a|: what
// is sent then is exact, as the raw values would be that such tensors need otherwise.
//   code=sum    scaler sharing: round 0 is the maximum of the ranks' s (f32 per tensor), round 1 the sum of their q
//               (i8 per element), for 127 ranks at most. out = s / W * sum.
//   code=2bit   each rank's own s and 2-bit codes, gathered: ceil(n / 4) + 4 bytes per tensor.
//   code=base3  the same with five codes to a byte: ceil(n / 5) + 4 bytes.
// A round of maxima before a gathered one would need a reducer of both kinds, which there is none of; so only code=sum
// shares its scaler. A tensor of zeros has s = 0. s is 2^-90 at least (unbiased). NaN and infinity flag the step.
// Passes: 2R; code=sum writes n bytes and decodes them with 1/4 R + 1 W.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

Entry terngrad();

}  // namespace gradcomp::compressors
