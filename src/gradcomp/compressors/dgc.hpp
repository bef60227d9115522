#pragma once
// dgc: Deep Gradient Compression (Lin, Han, Mao, Wang & Dally, ICLR 2018), complete: momentum correction, momentum
// factor masking, local clipping, warm-up, sampled threshold with hierarchical selection.
//
// Per step, with feedback=momentum_correction (the default): u = m u + g, v = v + u (feedback.nesterov=on: u = m (u +
// g), v = v + u + g), g clipped to the norm feedback.clip / sqrt(ranks) first; entries of v are sent, and u = v = 0
// there (feedback.masking). warmup=quarters is the paper's schedule, geometric that of the authors' repository.
//
// As in the authors' repository every tensor has a threshold of its own (granularity=tensor), and tensors of one
// dimension (biases, batch norm; few elements) are not compressed: all their entries are sent, as entries like others,
// and u stays there, so that they train with plain momentum. vectors=compressed treats them as the rest;
// granularity=bucket sees the bucket as one vector with one threshold, of which ratio n entries are sent.
//
// Selection, of k = ceil(ratio n): T = the ceil(m ratio)-th largest of m sampled |v|, every stride-th from a random
// start on (kernels and numbers: detail/sparse/sampled.hpp). Entries >= T are candidates; while there are fewer than .8
// k, T = .8 T, ten times at most; with more than 1.3 k the exact k largest are chosen among them.
//
// variant=paper, as in the authors' repository: a sample of max(sample n, 2 / ratio) elements, in which T has rank 2
// and more: the candidates' number has a deviation of 1 / sqrt(rank), up to 100 %. Of k to 1.3 k candidates the first k
// in index order are sent, which favours the front of a segment.
//
// variant=fixed (default): at least 20 / ratio samples (deviation 22 %); all of up to 1.3 k candidates are sent; less
// than .8 k after all repairs are replaced by the exact k largest.
//
// Guards: at most k nonzeros are sent as they are; segments below max(1024, 2 / ratio) give exactly k, so does T = 0.
//
// All eleven thresholds of the repairs are counted in one or two reads instead of one each
// (kernels/select/count_above.hpp).
//
// Payload: as top_k's (the repository's has 64-bit indices). Passes: 3 reads and 2 writes with momentum correction, the
// sample; as top_k's 1 read to choose, and 1 to count, where the last threshold is no help.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
Entry dgc();
}
