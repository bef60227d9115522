#pragma once
// adaptive_threshold: the quanta of strom with a threshold that follows the gradient, as in Deeplearning4j
// (AdaptiveThresholdAlgorithm); the coding is that of Strom, INTERSPEECH 2015.
//
// Every segment has its own threshold tau, which is a memory. After a step that sent more than ratio_max of the n
// elements, tau is divided by 2^(-1/20) = 0.965936. After a step that sent less than ratio_min, tau is multiplied by
// this factor. Otherwise tau stays as it is. So tau can follow a change of the gradient's scale by a factor of 2 within
// 20 steps. A single entry never counts as too many, and a segment of zeros does not change tau.
//
// `initial` is the first tau, in units of the gradient; Deeplearning4j takes 1e-4. With initial=0, the first gradient
// that is not zero sets tau = mean |a| ln(nonzeros / k), k = n sqrt(ratio_min ratio_max). A double exponential
// distribution has about k values above this tau. So the search does not start with hundreds of dense steps, and C(2^j
// a) = 2^j C(a). Each rank adapts its tau alone, and every payload carries the tau of its sender.
//
// Payload and passes: detail/sparse/quanta.hpp, with one tau per segment: 4 segments + 4 kept bytes (quanta=multi: 2
// kept more).
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
Entry adaptive_threshold();
}
