#include "gradcomp/sampling/samplers/uniform.hpp"

namespace gradcomp {

SamplerEntry samplers::uniform() {
  return {"uniform",
          "draws every sample once in an epoch, in random order, in the data set's own batches",
          {},
          [](const SamplerSetup&) -> std::unique_ptr<BatchSampler> { return nullptr; }};
}

}  // namespace gradcomp
