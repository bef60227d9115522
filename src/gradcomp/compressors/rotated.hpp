#pragma once
// rotated: quantisation after a randomised Hadamard transform (kernels/sketch/hadamard.hpp). The transform makes every
// group look normal, so that one large element does not cost the others their precision. All ranks share the signs of
// the transform, which are new in every step. y is the rotated group of P elements.
//
// bits=1 (DRIVE; Vargaftik et al., NeurIPS 2021): the signs of y and one scale, ||y||^2 / ||y||_1, for which <C(a), a>
// = ||a||^2. This is unbiased for a uniformly random rotation, and nearly so for this one. (Groups with few nonzeros
// are an exception: (2, 1) always gives (2.5, 0).) With a feedback the scale is divided by 1 + w, w = P ||y||^2 /
// ||y||_1^2 - 1. It is then ||y||_1 / P, the best scale: ||a - C(a)||^2 = ||a||^2 - ||y||_1^2 / P.
//
// bits=2 .. 8 (as in THC; Li et al., NSDI 2024, without its tables and its sums in the network): stochastic rounding to
// 2^bits levels between -t and t, t = max |y|. This is unbiased up to 2^-24 of the distance between levels, because the
// random numbers have 24 bits. The variance is at most P t^2 / L^2, L = 2^bits - 1. clip=c cuts y at t = c ||y|| /
// sqrt(P), which gives up its tails for finer levels. With a feedback the values are divided by 1 + w, w = P t^2 / (L^2
// ||y||^2) of this group, with y as it is cut: a contraction on average. scale=none refuses a feedback if the worst w,
// P / L^2, is not below 1.
//
// A group with an element beyond 2^126 is sent as zeros. A group of zeros is exact. NaN and infinity flag the step.
//
// Payload: f32 scale / sqrt(P) of every group; then for every 32 codes of a group `bits` words, the k-th of which holds
// bit k of all of them. Padding travels: P is `group`, or for the last group of a tensor the next power of two, at
// least 32.
//
// Passes (R: read, W: write): 1R + 1W, log2 P additions per element in cache, 1R to encode; with a residual 2R + 2W and
// 3 more on the work array. Decoding rotates every payload back. Work space: 4 bytes for every padded element.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

Entry rotated();

}  // namespace gradcomp::compressors
