#pragma once
// Batches that are a pure function of the step: what every data set offers.
#include "gradcomp/sampling/batch_sampler.hpp"

namespace gradcomp::samplers {

SamplerEntry uniform();

}  // namespace gradcomp::samplers
