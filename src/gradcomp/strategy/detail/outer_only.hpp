#pragma once
// The control of local steps with an outer optimiser: the same without saving an exchange. All ranks take the mean
// gradient in every step, and every `period` steps the outer optimiser takes the change since the last time, which is
// equal on all of them (SNOO, arXiv 2510.15830).
#include "gradcomp/strategy/strategy.hpp"

namespace gradcomp {

/// The outer optimiser of strategy local, by its options.
UpdateOptions outer_options(const ParameterValues& own);

/// By the options of strategy local. Collective.
std::unique_ptr<Strategy> make_outer_only(const StrategySetup& setup);

}  // namespace gradcomp
