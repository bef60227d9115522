// uniform: the batches of the data set itself, which depend on the step alone.
#include "gradcomp/sampling/batch_sampler.hpp"

namespace gradcomp::samplers {

SamplerEntry uniform() {
  return {"uniform",
          "draws every sample once in an epoch, in random order, in the data set's own batches",
          {},
          [](const SamplerSetup&) -> std::unique_ptr<BatchSampler> { return nullptr; }};
}

}  // namespace gradcomp::samplers
