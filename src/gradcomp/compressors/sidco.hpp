#pragma once
// sidco: top-k by a threshold from the statistics of the gradient (Abdelmoniem, Elzanaty, Alouini & Canini, An
// efficient statistical-based gradient compression technique, MLSys 2021).
//
// A sparsity-inducing distribution is fitted to |a| and its (1 - ratio) quantile taken as threshold, refined in stages
// on the survivors (detail/sparse/sidco_stages.hpp): sid=exponential is the paper's SIDCo-E, gamma its SIDCo-GP (later
// stages: generalised Pareto), pareto its SIDCo-P. stages=adaptive (the authors' code defaults to one fixed stage,
// which starves under error feedback) looks every `interval` calls whether the mean of kept / k left 1 +- tolerance and
// then changes the number of stages, which is remembered per segment.
//
// variant=fixed (default) adds three things to the paper, which explain a good part of how near it comes to the target:
// survivors are counted and the last stage corrected by them; with integrator=on (default; needs stages=adaptive) the k
// that is asked of the fit is corrected by a running mean of ln(kept / k) of the steps before; and the first step
// starts with the 2 stages (3 below a ratio of 0.005) that the gradients of a ResNet-20 were found to need.
// integrator=off takes the second one away, variant=paper all.
//
// Guards: at most k nonzeros are sent as they are; segments below max(1024, 2 / ratio), and selections past 2 k, are
// cut to the exact top k (variant=paper: not past 2 k, it has no bound). Segments from 2^20 elements on fit later
// stages on a sample (kernels/select/tail_sums.hpp). Payload: as top_k's. Passes: 2 reads and 1 write with the
// residual; as top_k's a read to choose; for each stage beyond the first up to 1 read, 1/20 in large segments.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
Entry sidco();
}
