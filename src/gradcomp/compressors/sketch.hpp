#pragma once
// sketch: SketchedSGD (Ivkin, Rothchild, Ullah, Braverman, Stoica, Arora, NeurIPS 2019). The ranks add count sketches,
// in which all of them find the same heavy hitters, and then add the exact values of these.
//
// Round 0: the sketch of a, f32 [rows][columns], summed. The whole bucket has one sketch
// (kernels/sketch/count_sketch.hpp). Every rank makes the same estimates of the sum of a (the median over rows). In
// every segment, the candidates * k elements with the largest estimates are the candidates; ties go to the lower index.
// Round 1: the rank's own values of the candidates, f32, summed; their indices need not travel. In every segment, the k
// largest of these sums are the estimate, out = sum / ranks. At their places every rank's own value has left its memory
// completely. So C(a) is a subset of the entries of a: it is a contraction and loses nothing, however bad the estimates
// are.
//
// feedback=momentum_correction, the default, is SketchedSGD's momentum: u = m u + g, v = v + u, and both become zero
// where entries are sent. An element is found if it stands out of the noise, ||sum of a|| / sqrt(columns). In gradients
// without heavy hitters the candidates are little better than random. columns=0 means 10 k columns, as in FetchSGD
// (Rothchild et al., ICML 2020), the authors' successor, which has 5 rows. This sends 54 k floats and pays only for
// small ratios.
//
// NaN and infinity: a rank whose gradient is not finite sends NaN. Every rank sees the same sums, and one that is not
// finite, by a flag or an overflow, ends the run.
//
// Passes with momentum (R: read, W: write): 3R + 2W to form a, `rows` reads to sketch, 1 write of the estimates and 2
// reads to choose. Work space: 4 n bytes of estimates, 0.5 rows n of hashes.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

Entry sketch();

}  // namespace gradcomp::compressors
