#pragma once
// random_k: sends k random entries of each segment (Stich, Cordonnier & Jaggi, NeurIPS 2018).
//
// The choice follows from (seed, segment, step) and is the same on all ranks. So no index travels, and an allreduce
// adds the values. seed=private draws from (seed, segment, step, rank). Receivers repeat the sender's draw, so still no
// index travels; but the ranks choose different entries, and the payloads are gathered. Every element is chosen with
// probability exactly k / n, without replacement (kernels/random/random_subset.hpp).
//
// scale=none with the residual is the default. Without feedback use scale=unbiased: values are multiplied by n / k, so
// that E C(a) = a and E ||C(a) - a||^2 = (n/k - 1) ||a||^2. Scaling together with a memory diverges and is refused.
//
// Message: k f32 (4 k bytes); seed=private: u32 rank, k f32. Passes: 2 reads and 1 write with the residual, k gathers.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
Entry random_k();
}
