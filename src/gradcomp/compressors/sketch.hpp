#pragma once
// sketch: SketchedSGD (Ivkin, Rothchild, Ullah, Braverman, Stoica, Arora, NeurIPS 2019): ranks sum count sketches,
// which show all of them the same heavy hitters, and then the exact values of these.
//
// Round 0: sketch of a, f32 [rows][columns], summed; one sketch for the whole bucket (kernels/sketch/count_sketch.hpp).
// Every rank makes the same estimates of the sum of a, the median over rows, and takes the candidates k largest of
// every segment (ties by the lower index) as candidates. Round 1: the own values at the candidates, f32, summed; their
// indices need not travel. Of these sums the k largest of every segment are the estimate, out = sum / ranks; at their
// places every rank's own value has left its memory, whole. So C(a) is some of the entries of a: a contraction, and
// nothing is lost, however bad the estimates.
//
// feedback=momentum_correction, the default, is SketchedSGD's momentum: u = m u + g, v = v + u, both zeroed where sent.
// An element is found when it stands out of the noise, ||sum of a|| / sqrt(columns): gradients without heavy hitters
// get candidates that are little better than random ones. columns=0 means 10 k (as the authors' successor FetchSGD,
// Rothchild et al., ICML 2020, has it with 5 rows), hence 54 k floats: worth it for small ratios only.
//
// NaN and infinity: a rank whose gradient is not finite sends NaN; every rank sees the same sums, and a sum that is not
// finite, an overflow too, skips the step. Passes with momentum: 3R + 2W to form a, `rows` reads to sketch, 1 write of
// the estimates and 2 reads to choose. Work space: 4 n bytes of estimates, 0.5 rows n of hashes.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

Entry sketch();

}  // namespace gradcomp::compressors
