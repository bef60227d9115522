#pragma once
// gaussian_k: top-k by the threshold that a normal distribution would have (Shi, Chu, Cheung & See, Understanding top-k
// sparsification in distributed deep learning, 2019, whose method is GaussianK-SGD).
//
// eta = mean + z std of the signed a, with z = Phi^-1(1 - ratio / 2) and std with n - 1. Entries of both signs with |a|
// > eta are sent. An eta below 0 (the mean is far below 0) counts as 0: all nonzeros are sent.
//
// variant=paper looks at most three times at the count above eta. With fewer than 2 k / 3 entries, eta is halved; with
// more than 4 k / 3, it is multiplied by 1.5. The entries of the last look are sent. One read counts the entries above
// the seven thresholds that can be reached. The factors .5 and 1.5 cycle around the target and do not close in (6.5 k
// of a Laplace gradient at ratio .01). With feedback, a is light-tailed near the threshold: kept / k becomes several at
// .01, and nearly 0 at .001. Nothing bounds it. Since eta contains the mean with its sign, a and -a give different
// sets.
//
// variant=fixed (default) uses eta, with |mean|, as the start of a search by counts (detail/sparse/count_search.hpp):
// at most two reads with eight thresholds each, until 2 k / 3 <= kept <= 4 k / 3. If that does not suffice, up to 2 k
// are sent; if ties leave no threshold, exactly the k largest.
//
// Guards: if there are at most k nonzeros, they are sent as they are. Segments with fewer than max(1024, 2 / ratio)
// elements send exactly k, and so does variant=paper if a sum of squares overflows.
//
// Payload: that of top_k. Passes: 2 reads and 1 write with the residual; 1 or 2 reads to count; as in top_k, 1 read to
// choose if the last threshold does not help.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
Entry gaussian_k();
}
