#pragma once
// natural: stochastic rounding of every magnitude to one of the two powers of two around it (natural compression;
// Horvath, Ho, Horvath, Sahu, Canini, Richtarik, MSML 2022).
//
// |a| = 2^E (1 + m) becomes 2^(E+1) with probability m, otherwise 2^E: random bits are added to the mantissa, and the
// exponent is kept. It is unbiased in range, and E||C(a) - a||^2 <= w ||a||^2 with w = 1/8 (reached at m = 1/3). Powers
// of two are exact. No element depends on another one.
//   bits=9: sign and the float's 8 exponent bits. Magnitudes go up to 2^127 (1.7e38; larger ones saturate). Smaller
//           ones than 2^-126 are rounded to 0 or 2^-126, still unbiased.
//   bits=8: sign and 7 bits e; 0 is zero, e > 0 is 2^(e - 109): magnitudes 2^-108 .. 2^18 = 262144. Smaller ones are
//           rounded to 0 or 2^-108, still unbiased. Larger ones saturate, which is a bias that a residual makes up for.
// Zero decodes to +0. NaN and infinity flag the step. Since w < 1, the method converges with a residual as it is. It is
// not scaled by 1/(1+w) = 8/9, so that decoded values stay powers of two.
//
// Payload: vertical words of codes, sign above exponent (kernels/quantise/code_plan.hpp); n bytes or ceil(9 n / 8) for
// each segment. Passes (R: read, W: write): 1R + 1/4 W; with a residual 2R + 2W, one each of them in cache.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

Entry natural();

}  // namespace gradcomp::compressors
