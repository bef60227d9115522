#pragma once
// natural: stochastic rounding of every magnitude to one of the two powers of two around it (natural compression;
// Horvath, Ho, Horvath, Sahu, Canini, Richtarik, MSML 2022).
//
// |a| = 2^E (1 + m) becomes 2^(E+1) with probability m, else 2^E: adding random bits to the mantissa and keeping the
// exponent. Unbiased in range, E||C(a) - a||^2 <= w ||a||^2 with w = 1/8 (attained at m = 1/3); powers of two are
// exact. Nothing depends on other elements.
//   bits=9: sign and the float's 8 exponent bits. Magnitudes up to 2^127 (1.7e38; larger ones saturate); below 2^-126
//           the rounding is to 0 or 2^-126, still unbiased.
//   bits=8: sign and 7 bits e, 0 = zero, e > 0 = 2^(e - 109): magnitudes 2^-108 .. 2^18 = 262144; below the rounding is
//           to 0 or 2^-108, unbiased; above it saturates, which is a bias (a residual catches it up).
// Zero decodes to +0. NaN and infinity flag the step. w < 1: with a residual it converges as it is, and decoded values
// stay powers of two; a scale 1/(1+w) = 8/9 is not applied.
// Payload: vertical words of codes, sign above exponent (kernels/quantise/code_plan.hpp); n bytes or ceil(9 n / 8) per
// segment. Passes: 1R + 1/4 W; with a residual 2R + 2W, of which one each from cache.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

Entry natural();

}  // namespace gradcomp::compressors
