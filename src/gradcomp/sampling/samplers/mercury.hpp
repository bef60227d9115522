#pragma once
// Mercury (Zeng et al. 2021): importance of one group of samples per step, computed in slices while gradients travel,
// so that a slow link gives large groups for nothing and a fast one small groups; samples move between ranks so that
// all have the same importance in sum. The full text of the paper is not public: docs/importance-sampling.md says what
// is known of it.
#include "gradcomp/sampling/batch_sampler.hpp"

namespace gradcomp::samplers {

SamplerEntry mercury();

}  // namespace gradcomp::samplers
