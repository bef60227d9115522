#pragma once
// adaptive_threshold: strom's quanta with a threshold that follows the gradient, as Deeplearning4j has it
// (AdaptiveThresholdAlgorithm; Strom, INTERSPEECH 2015, for the coding).
//
// Every segment has a tau of its own, which is remembered. Where a step kept more than ratio_max of the n entries, tau
// is divided by 2^(-1/20) = 0.965936 for the next; where it kept less than ratio_min, multiplied; in between it stays.
// So the density comes back from any change of scale, by a factor of 2 in 20 steps. One entry is never too many, and
// segments of zeros change nothing. `initial`: the first tau, as Deeplearning4j's 1e-4, in the gradient's own units; 0:
// from the first gradient that is not zero, mean |a| ln(nonzeros / k) with k = n sqrt(ratio_min ratio_max), the tail of
// a double exponential distribution, so that the search does not start with hundreds of dense steps and C(2^j a) =
// 2^j C(a). Each rank adapts alone: every payload carries the tau of its sender.
// Payload and passes: detail/sparse/quanta.hpp, one tau per segment: 4 segments + 4 kept bytes (multi: 2 kept more).
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
Entry adaptive_threshold();
}
