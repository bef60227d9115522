#pragma once
// The control for local steps with an outer optimiser, which saves no exchange. All ranks take the mean gradient in
// every step. Every `period` steps the outer optimiser takes the change since its last step, which is equal on all
// ranks (SNOO, arXiv 2510.15830).
#include "gradcomp/strategy/strategy.hpp"

namespace gradcomp {

/// The options of the outer optimiser of the strategy local.
UpdateOptions outer_options(const ParameterValues& own);

/// Makes the control, with the options of the strategy local. Collective.
std::unique_ptr<Strategy> make_outer_only(const StrategySetup& setup);

}  // namespace gradcomp
