#pragma once
// local: every rank updates its own parameters with its own gradients for `period` steps. Then the change of the
// parameters replaces the gradient in the same reductions, with the same compressors and feedback, and an outer
// optimiser takes the mean of the changes (local SGD: Stich, ICLR 2019; with an outer momentum it is SlowMo: Wang et
// al., ICLR 2020; with Nesterov's and AdamW inside it is DiLoCo: Douillard et al., 2023).
//
//   D = start - parameters;  start -= outer_rate (outer momentum of mean D);  parameters = start
//
// outer_rate=1 without a momentum takes the mean of the replicas. With these values and period=1, the gradient itself
// is exchanged and the inner optimiser takes its mean: this is the strategy overlapped, bit for bit. The running
// statistics of batch norms are averaged at every exchange, uncompressed. If a rank's own gradient is not finite, its
// change is not either, and the next exchange ends the run.
//
// adaptive=loss is AdaComm (detail/adaptive_period.hpp). `period` is then the first and longest period. Ranks exchange
// at its multiples in any case, and a result's times and bytes are means over it. inner=mean is the control for an
// outer momentum: all ranks take the mean gradient in every step, and the outer optimiser, which then needs no
// exchange, makes a step every `period` steps (detail/outer_only.hpp).
#include "gradcomp/strategy/strategy.hpp"

namespace gradcomp::strategies {
StrategyEntry local();
}
