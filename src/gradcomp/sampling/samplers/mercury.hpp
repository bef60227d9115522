#pragma once
// mercury (Mercury; Zeng et al. 2021): importance of one group of samples per step, computed in slices while gradients
// travel. So a slow link gives large groups for free, and a fast link small groups. Samples move between ranks so that
// all ranks have the same sum of importance. The full paper is not public: docs/importance-sampling.md says what comes
// from it and from the code that its authors released, and what is ours.
#include "gradcomp/sampling/batch_sampler.hpp"

namespace gradcomp::samplers {

SamplerEntry mercury();

}  // namespace gradcomp::samplers
