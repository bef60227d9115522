#pragma once
// linear_dithering: stochastic rounding to the levels 0, v/s, 2v/s .. v of the largest magnitude or the L2 norm v of a
// whole tensor or group (random dithering: Alistarh et al., NeurIPS 2017; as in BytePS, Jiang et al.,
// OSDI 2020, whose norm covers the whole tensor).
//
// q = round(s |a| / v) stochastically; E[decoded] = a, the variance of an element is (v/s)^2 f (1 - f), f the fraction
// of s |a| / v, hence w <= min(n / (4 s^2), sqrt(n) / s) for a group of n. Levels s = 2^(bits-1) - 1 or levels=s. With
// a residual v is divided by 1 + w (scale=auto): without, a long tensor with few levels diverges, and scale=none
// refuses a feedback where w >= 1.
// A tensor of zeros travels as v = 0. v is 2^-90 at least (unbiased) and 3.4e38 at most. NaN and infinity flag the
// step. Payload: f32 v per group, then codes 0 = zero, 2q = +q, 2q - 1 = -q (kernels/quantise/code_plan.hpp);
// coding=elias: BytePS' stream of gaps and levels in Elias delta codes, where it is shorter
// (detail/levels/elias_stage.hpp). Passes: 2R + bits/32 W; with a residual 3R + 2W.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

Entry linear_dithering();

}  // namespace gradcomp::compressors
