#pragma once
// max_min: uniform levels between the smallest and the largest element of each group (CGX; Markov, Ramezanikebrya,
// Alistarh, Middleware 2022: the max-min quantiser of torch_cgx).
//
// s = 2^bits - 1, unit = (high - low) / s, q = floor((a - low) / unit + r): r uniform in [0, 1) (rounding=stochastic,
// unbiased) or 1/2 (rounding=nearest). Decoded: low + (high - low) q / s. Variance of an element: unit^2 f (1 - f), f
// the fraction; as (high - low)^2 <= 2 ||a||^2, w <= B / (2 s^2). Zero is a level only where low or high is 0, so
// sparse gradients gain noise. A group of equal elements is exact. Differences below 2^-90 are widened to that
// (unbiased). With a residual low and high are divided by 1 + w (scale=auto); rounding=nearest has ||C(a) - a||^2 <= w
// ||a||^2 for every a, is not scaled, and is refused with a feedback where w >= 1, as scale=none is. NaN and infinity
// flag the step. Payload: f32 low and high per group, then the codes (kernels/quantise/code_plan.hpp). Passes: 2R +
// bits/32 W; with a residual 3R + 2W.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

Entry max_min();

}  // namespace gradcomp::compressors
