#pragma once
// Importance sampling over all samples of the rank, whose losses are computed anew every so many steps: the ungrouped
// reference of Mercury (Zeng et al. 2021), best in variance and dear in forward passes.
#include "gradcomp/sampling/batch_sampler.hpp"

namespace gradcomp::samplers {

SamplerEntry importance();

}  // namespace gradcomp::samplers
