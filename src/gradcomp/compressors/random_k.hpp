#pragma once
// random_k: k random entries of each segment (Stich, Cordonnier & Jaggi, NeurIPS 2018).
//
// The choice follows from (seed, segment, step): the same on all ranks, so no index travels and the values are summed
// by an allreduce. seed=private draws from (seed, segment, step, rank): receivers repeat the sender's draw, so that
// still no index travels, but the supports differ and payloads are gathered. Every element is chosen with probability
// exactly k / n, without replacement (kernels/random/random_subset.hpp). scale=none with the residual is the default;
// without feedback use scale=unbiased: values times n / k, then E C(a) = a and E ||C(a) - a||^2 = (n/k - 1) ||a||^2.
// Scaling *and* a residual diverge and are refused. Message: k f32 (4 k bytes); seed=private: u32 rank, k f32. Passes:
// 2 reads and 1 write with the residual, k gathers.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
Entry random_k();
}
