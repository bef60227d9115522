#pragma once
// redsync: a threshold between the mean and the maximum, found by counting (Fang, Fu, Yang & Hsieh, RedSync: reducing
// synchronization bandwidth for distributed deep learning training system, JPDC 2019).
//
// eta = mu + t (M - mu) with mu = mean |a|, M = max |a|; sent is a > eta in magnitude.
//
// variant=paper. search=trimmed: t = 1 - eps, 1 - 2 eps, ... until at least k lie above eta, then the exact k largest
// of these. search=binary: bisection of t in [0, 1] while the interval is longer than eps: stop where k < count < 2 k,
// go down where count < k / 2, else up (for k / 2 <= count <= k the wrong way); eta is used again for the next interval
// - 1 steps. search=auto: segments below 128 KiB are not compressed (all nonzeros are sent, 8 bytes each), up to 4 MiB
// trimmed, above binary. With eps = .2 the bisection can reach only seven values, none below mu + (M - mu) / 8, and eta
// follows the maximum, one entry: with feedback kept / k wanders between 0 and tens; nothing bounds it. The seven, and
// the first eight of trimmed, are counted in one read. Trimmed has no end on zeros and constants: it ends here where
// eta reaches 0 or t = -1, with the exact k largest, which it gives in any case.
//
// variant=fixed (default): at most three reads of a search by eight thresholds each (detail/sparse/count_search.hpp),
// from the last step's threshold on, for k <= kept <= 1.25 k; up to 2 k where reads do not suffice, exactly the k
// largest where ties leave no threshold. Has no use for search, eps and interval.
//
// Guards: at most k nonzeros are sent as they are; segments below max(1024, 2 / ratio) give exactly k. State: eta of
// each segment.
//
// Payload: as top_k's. Passes: 2 reads and 1 write with the residual; 1 to 3 reads to count and 1 to
// choose, as of top_k, where the last threshold is no help.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
Entry redsync();
}
