#pragma once
// uniform: the batches of the data set itself, which depend on the step alone.
#include "gradcomp/sampling/batch_sampler.hpp"

namespace gradcomp::samplers {

SamplerEntry uniform();

}  // namespace gradcomp::samplers
