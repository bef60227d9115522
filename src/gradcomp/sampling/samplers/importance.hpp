#pragma once
// importance: sampling by the loss from all samples of the rank, whose losses are computed anew every few steps. It is
// the reference without groups for mercury (Zeng et al. 2021): the lowest variance, but many forward passes.
#include "gradcomp/sampling/batch_sampler.hpp"

namespace gradcomp::samplers {

SamplerEntry importance();

}  // namespace gradcomp::samplers
