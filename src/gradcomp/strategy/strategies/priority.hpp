#pragma once
// priority: exchanges the gradient of every step. The bucket that the next forward pass needs first goes first, and
// each bucket is applied just before the first layer that needs it. So the exchange continues during the next forward
// pass.
//
// As in ByteScheduler (Peng et al., SOSP 2019), a transfer that has started is not interrupted. So only `credit`
// buckets travel at a time, and buckets should be small (bucket_kib). The order is found in the first forward pass:
// that of the layers (forward), or one of TicTac's (detail/transfer_order.hpp); `backward` is the control. Rank 0
// chooses and announces what starts next, and all ranks follow.
//
// The updates are bit for bit those of `overlapped` with equal buckets, except that the mean gradient cannot be clipped
// by its norm, which is known too late. A value that is not finite is known when its step is complete, before the next
// one opens. end() of the next step, or drain(), reports a step once all its buckets are applied.
#include "gradcomp/strategy/strategy.hpp"

namespace gradcomp::strategies {
StrategyEntry priority();
}
