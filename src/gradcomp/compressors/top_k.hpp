#pragma once
// top_k: the k entries of largest magnitude of each segment, exactly (Aji & Heafield, EMNLP 2017; Stich, Cordonnier &
// Jaggi, NeurIPS 2018; Alistarh et al., NeurIPS 2018).
//
// k = max(1, floor(ratio n)) always: ties go to the lowest index, missing nonzeros are filled by the first zeros, so
// the payload has a fixed size. Contraction: ||a - C(a)||^2 <= (1 - k/n) ||a||^2. With a residual the sent entries are
// zeroed, hence what is sent and what stays add up to a bit for bit.
// Payload: k u32 indices, k f32 values (8 k bytes). Passes: 2 reads and 1 write with the residual;
// a read to choose in the first step, and where the threshold fell by far (kernels/select/top_k.hpp).
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
Entry top_k();
}
