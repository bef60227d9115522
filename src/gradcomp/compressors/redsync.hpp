#pragma once
// redsync: a threshold between the mean and the maximum, found by counting (Fang, Fu, Yang & Hsieh, RedSync: reducing
// synchronization bandwidth for distributed deep learning training system, JPDC 2019).
//
// eta = mu + t (M - mu) with mu = mean |a| and M = max |a|; entries with |a| > eta are sent.
//
// variant=paper has the authors' two searches.
//   search=trimmed  t = 1 - eps, 1 - 2 eps, ... until at least k entries lie above eta; the exact k largest of them are
//                   sent. The authors' loop has no end on zeros and constants. Here it ends if eta reaches 0 or t falls
//                   below -1, and the exact k largest are sent.
//   search=binary   bisection of t in [0, 1] while the interval is longer than eps. It stops if k < count < 2 k, goes
//                   down if count < k / 2, and otherwise up, which is the wrong way for k / 2 <= count <= k. The next
//                   interval - 1 steps use eta again.
//   search=auto     segments below 128 KiB are not compressed (all nonzeros are sent, 8 bytes each), those up to 4 MiB
//                   are trimmed, and larger ones searched by bisection.
// With eps = .2 the bisection can reach only seven values, none below mu + (M - mu) / 8, and eta follows the maximum, a
// single entry. With feedback kept / k therefore wanders between 0 and tens, and nothing bounds it. One read counts the
// entries above the seven values, or above the first eight of trimmed.
//
// variant=fixed (default) searches by counts, at most three reads with eight thresholds each
// (detail/sparse/count_search.hpp), from the last step's threshold on, until k <= kept <= 1.25 k. If that does not
// suffice, up to 2 k are sent; if ties leave no threshold, exactly the k largest. It does not use search, eps and
// interval.
//
// Guards: if there are at most k nonzeros, they are sent as they are. Segments with fewer than max(1024, 2 / ratio)
// elements send exactly k. Memory: eta of each segment.
//
// Payload: that of top_k. Passes: 2 reads and 1 write with the residual; 1 to 3 reads to count; as in top_k, 1 read to
// choose if the last threshold does not help.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
Entry redsync();
}
