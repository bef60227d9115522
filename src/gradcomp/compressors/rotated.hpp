#pragma once
// rotated: quantisation after a randomised Hadamard transform (kernels/sketch/hadamard.hpp), which makes every group
// look normal: one large element costs the others nothing. All ranks share the signs of the transform, new ones every
// step.
//
// bits=1 (DRIVE; Vargaftik et al., NeurIPS 2021): the signs of the rotated group y of P elements and one scale,
// ||y||^2 / ||y||_1, for which <C(a), a> = ||a||^2: unbiased for a uniformly random rotation, nearly so for this one (a
// group of few nonzeros is the exception: of (2, 1) it always gives (2.5, 0)). With a feedback it is divided by 1 + w,
// w = P ||y||^2 / ||y||_1^2 - 1, which makes it ||y||_1 / P, the best scale: ||a - C(a)||^2 = ||a||^2 - ||y||_1^2 / P.
// bits=2 .. 8 (as THC; Li et al., NSDI 2024, without its tables and its sums in the network): stochastic rounding to
// 2^bits levels between -t and t, t = max |y|: unbiased, variance at most P t^2 / L^2, L = 2^bits - 1. clip=c cuts at t
// = c ||y|| / sqrt(P), which gives up tails of y for finer levels. With a feedback the values are divided by 1 + w, w =
// P t^2 / (L^2 ||y||^2) of the very group, y as it is cut: a contraction in the mean. scale=none refuses a feedback
// where the worst w, P / L^2, is not below 1.
// Elements beyond 2^126 send a group of zeros. A group of zeros is exact. NaN and infinity flag the step.
//
// Payload: f32 scale / sqrt(P) of every group; then for every 32 codes of a group `bits` words, the k-th of which
// holds bit k of all of them. Padding travels: P is `group`, of the last group of a tensor the next power of two, 32
// at least. Passes: 1R + 1W, log2 P additions per element in cache, 1R to encode; with a residual 2R + 2W and 3 more on
// the work array. Decoding rotates every payload back. Work space: 4 bytes for every padded element.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

Entry rotated();

}  // namespace gradcomp::compressors
