#pragma once
// sidco: top-k by a threshold from the statistics of the gradient (Abdelmoniem, Elzanaty, Alouini & Canini, An
// efficient statistical-based gradient compression technique, MLSys 2021, algorithm 1; the fits are those of its
// section 2.3).
//
// A sparsity-inducing distribution is fitted to |a|. Its (1 - ratio) quantile is the threshold, which further stages
// refine on the survivors (detail/sparse/sidco_stages.hpp). sid=exponential is the paper's SIDCo-E, sid=gamma its
// SIDCo-GP (later stages fit a generalised Pareto distribution), sid=pareto its SIDCo-P. stages=adaptive checks every
// `interval` calls whether the mean of kept / k has left 1 +- tolerance. If so, it changes the number of stages, which
// is a memory of each segment. (The authors' code has one fixed stage by default, which starves with error feedback.)
//
// variant=fixed (default) adds three things to the paper, which explain a good part of how near it comes to the target.
// First, survivors are counted, and their counts correct the last stage. Second, with integrator=on (default; needs
// stages=adaptive) a running mean of ln(kept / k) of the steps before corrects the k that is asked of the fit. Third,
// the first step starts with the 2 stages (3 below a ratio of 0.005) that the gradients of a ResNet-20 needed.
// integrator=off drops the second one, variant=paper all three.
//
// Guards: if there are at most k nonzeros, they are sent as they are. Segments with fewer than max(1024, 2 / ratio)
// elements, and selections of more than 2 k entries, send the exact top k (variant=paper has no bound of 2 k). Segments
// from 2^20 elements on fit later stages to a sample (kernels/select/tail_sums.hpp).
//
// Payload: that of top_k. Passes: 2 reads and 1 write with the residual; as in top_k, a read to choose; for each stage
// beyond the first up to 1 read, 1/20 in large segments.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
Entry sidco();
}
