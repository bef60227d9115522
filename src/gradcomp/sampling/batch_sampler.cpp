#include "gradcomp/sampling/batch_sampler.hpp"

#include "gradcomp/core/spec_part.hpp"

namespace gradcomp {

SamplerChoice choose_sampler(const MethodSpec& method, const std::string& job) {
  const ChosenPart chosen = choose_part(method, "sampler", method.sampler_options, job);
  const SamplerEntry& entry = find_by_name(all_samplers(), "sampler", chosen.part.name);
  return {entry, ParameterValues(chosen.owner + ", sampler " + entry.name, entry.parameters, chosen.part.options)};
}

}  // namespace gradcomp
