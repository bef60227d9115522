#pragma once
// local: every rank updates its own parameters with its own gradients for `period` steps; then the change of the
// parameters takes the gradient's place in the same reductions, under the same compressors and feedback, and an outer
// optimiser takes the mean of the changes (local SGD: Stich, ICLR 2019; with an outer momentum SlowMo: Wang et al.,
// ICLR 2020; with Nesterov's and AdamW inside DiLoCo: Douillard et al., 2023).
//
//   D = start - parameters;  start -= outer_rate (outer momentum of mean D);  parameters = start
//
// outer_rate=1 without a momentum is the mean of the replicas. With period=1 and that, the gradient itself is exchanged
// and the inner optimiser takes its mean: bit for bit the overlapped strategy. The running statistics of batch norms
// are averaged at every exchange, uncompressed. A rank whose own gradient is not finite leaves that local step out;
// when some rank's change is not finite, all ranks go back to the start.
//
// adaptive=loss: AdaComm (detail/adaptive_period.hpp); `period` is then the first and longest period, at whose
// multiples ranks exchange in any case, and a result's times and bytes are means over it. inner=mean is the control
// that keeps an outer momentum honest: all ranks take the mean gradient in every step, and the outer optimiser, which
// then needs no exchange, every `period` steps (detail/outer_only.hpp).
#include "gradcomp/strategy/strategy.hpp"

namespace gradcomp::strategies {
StrategyEntry local();
}
