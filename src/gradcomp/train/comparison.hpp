#pragma once
// Several methods trained side by side in one job: blocks of steps alternate, so that a machine that slows down for a
// while slows all of them, and the controls are measured under the same conditions as the methods.
#include <functional>
#include <vector>

#include "gradcomp/train/checkpoints.hpp"

namespace gradcomp::train {

/// Trains all contenders for options.steps steps, or what a checkpoint left of them, and returns the results in their
/// order. `progress` is called on every rank after each step with the label of the contender under way. Collective.
std::vector<MethodResult> compare(const Exec& exec, const Job& job, const std::vector<Contender>& contenders,
                                  const std::function<void(const std::string&)>& progress,
                                  const Checkpoints* checkpoints = nullptr);

}  // namespace gradcomp::train
