#pragma once
// natural_dithering: stochastic rounding to the levels 0, 2^(1-k) v .. v/4, v/2, v of the largest magnitude or the L2
// norm v of a whole tensor or group (Horvath et al., MSML 2022; as in BytePS, Jiang et al., OSDI 2020).
//
// |a| between two powers is rounded as by natural (variance at most a^2 / 8); below t = 2^(1-k) v to 0 or t, with
// variance |a| (t - |a|). Unbiased, w <= 1/8 + min(n 4^-k, sqrt(n) 2^(1-k)) for a group of n. k = 2^(bits-1) - 1 or
// levels=k: each further level halves the smallest one, so 3 bits (k = 3) reach v / 4 and 4 bits v / 64.
// With a residual v is divided by 1 + w (scale=auto); scale=none refuses a feedback where w >= 1.
// A tensor of zeros travels as v = 0. v is 2^-90 at least (unbiased) and 3.4e38 at most. NaN and infinity flag the
// step. Payload: f32 v per group, then codes 0 = zero, 2q = + level q, 2q - 1 = - level q
// (kernels/quantise/code_plan.hpp); coding=elias: BytePS' stream of gaps and levels in Elias delta codes, where it is
// shorter (detail/levels/elias_stage.hpp). Passes: 2R + bits/32 W; with a residual 3R + 2W.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

Entry natural_dithering();

}  // namespace gradcomp::compressors
