#pragma once
// dgc: Deep Gradient Compression (Lin, Han, Mao, Wang & Dally, ICLR 2018, section 3), with all its parts: momentum
// correction, momentum factor masking, local clipping, warm-up, and a sampled threshold with hierarchical selection.
//
// Each step, with feedback=momentum_correction (the default): g is clipped to the norm feedback.clip / sqrt(ranks),
// then u = m u + g and v = v + u (feedback.nesterov=on: u = m (u + g), v = v + u + g). Entries of v are sent, and there
// u = v = 0 (feedback.masking). warmup=quarters is the paper's schedule, warmup=geometric that of the authors'
// repository.
//
// As in the authors' repository, every tensor has its own threshold (granularity=tensor), and tensors of one dimension
// (biases, batch norm; few elements) are not compressed. All their elements are sent as ordinary entries, and u stays,
// so that they train with plain momentum. vectors=compressed treats these tensors as all others. granularity=bucket
// sees the bucket as one vector with one threshold, of which ratio n entries are sent.
//
// Selection of k = ceil(ratio n) entries: of m sampled |v|, which are every stride-th element from a random start on, T
// is the ceil(m ratio)-th largest (detail/sparse/sampled.hpp). Entries >= T are candidates. While there are fewer than
// .8 k, T becomes .8 T, at most ten times. If there are more than 1.3 k, the exact k largest of them are chosen.
//
// variant=paper follows the authors' repository. The sample has max(sample n, 2 / ratio) elements, so the rank of T in
// it is at least 2. The number of candidates has a relative deviation of 1 / sqrt(rank), up to 100 %. If there are k to
// 1.3 k candidates, the first k in index order are sent, which favours the front of a segment.
//
// variant=fixed (default) takes at least 20 / ratio samples (deviation 22 %) and sends all of up to 1.3 k candidates.
// If fewer than .8 k are left after all repairs, the exact k largest entries are sent.
//
// Guards: if there are at most k nonzeros, they are sent as they are. Segments with fewer than max(1024, 2 / ratio)
// elements, and segments with T = 0, send exactly k.
//
// One or two reads count the entries above all eleven thresholds of the repairs (kernels/select/count_above.hpp).
//
// Payload: that of top_k (the repository's has 64-bit indices). Passes: 3 reads and 2 writes with momentum correction,
// and the sample; as in top_k, 1 read to choose. If the last threshold does not help, 1 read to count.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
Entry dgc();
}
