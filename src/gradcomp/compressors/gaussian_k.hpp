#pragma once
// gaussian_k: top-k by the threshold that a normal distribution would have (Shi, Chu, Cheung & See, Understanding top-k
// sparsification in distributed deep learning, 2019: GaussianK-SGD).
//
// eta = mean + z std of the signed a, z = Phi^-1(1 - ratio / 2), std with n - 1; sent is |a| > eta, both signs.
//
// variant=paper: at most three looks: with less than 2 k / 3 above it eta is halved, with more than 4 k / 3 it grows by
// a half; the entries of the last look are sent. The seven thresholds that can be reached are counted in one read. The
// steps .5 and 1.5 cycle round the target instead of closing in (6.5 k of a Laplace gradient at ratio .01), and with
// feedback, whose a is light-tailed near the threshold, kept / k goes to several at .01 and to nearly 0 at .001.
// Nothing bounds it. With the sign of the mean in it, a and -a give different sets.
//
// variant=fixed (default): eta, of |mean|, is where a search by counts starts (detail/sparse/count_search.hpp), eight
// thresholds a read and two reads at most, until 2 k / 3 <= kept <= 4 k / 3; up to 2 k where that does not suffice,
// exactly the k largest where ties leave no threshold.
//
// An eta below 0 (a mean far below it) counts as 0: all nonzeros.
//
// Guards: at most k nonzeros are sent as they are; segments below max(1024, 2 / ratio), and sums of squares that
// overflow in variant=paper, give exactly k.
//
// Payload: as top_k's. Passes: 2 reads and 1 write with the residual; 1 or 2 reads to count and 1 to
// choose, as of top_k, where the last threshold is no help.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
Entry gaussian_k();
}
