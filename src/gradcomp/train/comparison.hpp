#pragma once
// Trains several methods side by side in one job. Their blocks of steps alternate: a machine that slows down for a
// while then slows all methods, and the controls are measured under the same conditions as the methods.
#include <functional>
#include <vector>

#include "gradcomp/train/checkpoints.hpp"

namespace gradcomp::train {

/// Whether the first period of a block of so many steps is untimed, because it finds another method's data in the
/// caches. A block of one period has no other times.
constexpr bool first_is_untimed(index_t steps, index_t period) { return steps > period; }

/// Trains all contenders for options.steps steps, or from a checkpoint on, and returns the results in their order.
/// A run that diverges ends there; the others go on. `progress` is called on every rank before each step with the label
/// of the contender that made it. Collective.
std::vector<MethodResult> compare(const Exec& exec, const Job& job, const std::vector<Contender>& contenders,
                                  const std::function<void(const std::string&)>& progress,
                                  const Checkpoints* checkpoints = nullptr);

}  // namespace gradcomp::train
