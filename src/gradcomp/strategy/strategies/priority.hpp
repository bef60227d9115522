#pragma once
// priority: the gradient of every step, the bucket that the next forward pass needs first before the others, and each
// bucket's update just before the first layer that needs it: the exchange goes on under the next forward pass.
//
// As in ByteScheduler (Peng et al., SOSP 2019) what has been started is not interrupted, so that only `credit` buckets
// are under way at a time. Buckets should be small therefore (bucket_kib). The order is that of the layers (forward),
// or one of TicTac's (detail/transfer_order.hpp); `backward` is the control. It is found in the first forward pass.
// Rank 0 chooses and announces what starts next, and all follow it.
//
// The updates are bit for bit those of `overlapped` with equal buckets, but for two rules: a value that is not finite
// skips the update of its bucket and not of the whole step, and no mean gradient can be clipped by its norm, which is
// known too late. A step is reported once it is whole: by end() of the next one, or by drain().
#include "gradcomp/strategy/strategy.hpp"

namespace gradcomp::strategies {
StrategyEntry priority();
}
