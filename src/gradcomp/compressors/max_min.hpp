#pragma once
// max_min: uniform levels between the smallest and the largest element of each group (the max-min quantiser of
// torch_cgx; CGX: Markov, Ramezanikebrya, Alistarh, Middleware 2022).
//
// s = 2^bits - 1, unit = (high - low) / s, q = floor((a - low) / unit + r), where r is uniform in [0, 1)
// (rounding=stochastic, unbiased) or 1/2 (rounding=nearest). Decoded: low + (high - low) q / s. The variance of an
// element is unit^2 f (1 - f), f the fraction. As (high - low)^2 <= 2 ||a||^2, w <= B / (2 s^2) for a group of B
// elements. Zero is a level only if low or high is 0, so sparse gradients gain noise. A group of equal elements is
// exact. A difference high - low below 2^-90 is widened to 2^-90 (still unbiased).
//
// With a residual, low and high are divided by 1 + w (scale=auto). rounding=nearest has ||C(a) - a||^2 <= w ||a||^2 for
// every a and is not scaled. Without scaling, a feedback is refused if w >= 1. NaN and infinity flag the step.
//
// Payload: f32 low and high of every group, then the codes (kernels/quantise/code_plan.hpp). Passes (R: read, W:
// write): 2R + bits/32 W; with a residual 3R + 2W.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

Entry max_min();

}  // namespace gradcomp::compressors
