#pragma once
// Several methods trained side by side in one job: blocks of steps alternate, so that a machine that slows down for a
// while slows all of them, and the controls are measured under the same conditions as the methods.
#include <functional>
#include <vector>

#include "gradcomp/train/trainer.hpp"

namespace gradcomp::train {

/// Trains every method for options.steps steps and returns the results in the order of `methods`. `progress` is called
/// on every rank after each step with the label of the method under way. Collective.
std::vector<MethodResult> compare(const Exec& exec, const Job& job, const std::vector<MethodSpec>& methods,
                                  const std::function<void(const std::string&)>& progress);

}  // namespace gradcomp::train
