#pragma once
// global_qsgd: QSGD whose norm and levels all ranks share, so that an integer allreduce adds the levels (global-QSGD;
// Xin, Canini, Richtarik, Horvath, EuroMLSys 2023; the uniform dithering).
//
// Round 0: M = maximum over ranks of each group's norm (max |a| or the L2 norm), f32. Round 1: q = round(L a / M)
// stochastically, in -L .. L, summed in i8; L = floor(127 / W), so that L W <= 127: no sum wraps for any number of
// ranks, and more than 127 ranks are refused. (The authors' hook scales to 127 / W and rounds up, W ceil(127 / W) = 128
// for W = 2, 4, .. 64, which wraps to -128.) bits=4 and bits=16 sum fields of i32 (kernels/pack/packed_levels.hpp) with
// L = floor(7 / W), for 7 ranks at most, and floor(32767 / W). out = M / (L W) * sum: unbiased, a rank's variance
// (M/L)^2 f (1 - f) per element. Of 8 bits L is 63 for 2 ranks, 31 for 4, 7 for 16 and 1 from 64 on; of 4 bits 3, 2 for
// 3 ranks and 1 from 4 on. With a residual decoded values are divided by 1 + w (scale=auto), w <= min(W B / (4 L^2),
// sqrt(W B) / L) of all ranks' residuals together, whose norm bounds M; scale=none refuses a feedback where w >= 1. A
// group of zeros on all ranks is exact. NaN and infinity: detail/levels/summed_levels.hpp. Passes: 2R + 1/4 W (bits=4:
// 1/8, bits=16: 1/2), 1/4 R + 1 W to decode; with a residual 3R + 2W.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

Entry global_qsgd();

}  // namespace gradcomp::compressors
