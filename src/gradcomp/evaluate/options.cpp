#include "gradcomp/evaluate/options.hpp"

#include "gradcomp/core/allowed.hpp"
#include "gradcomp/core/registry.hpp"

namespace gradcomp::evaluate {

void Options::check() const {
  require(!input.empty() || !data.empty() || !training.model.empty(),
          "there is nothing to evaluate: give --input, --data or --train");
  require(size >= 1, "--size {} is not allowed; allowed: at least 1 element", size);
  require(layout.empty() || !data.empty() || !input.empty(),
          "--layout {} needs --input or --data: it gives tensors to their gradients", layout);
  require(repeats >= 1, "--repeats {} is not allowed; allowed: at least 1 draw", repeats);
  require(residual_steps >= 0, "--residual-steps {} is not allowed; allowed: 0 or more", residual_steps);
  require(timings >= 1, "--timings {} is not allowed; allowed: at least 1", timings);
  require(trials == 0 || trials >= 2, "--trials {} is not allowed; allowed: 0, or at least 2", trials);
  require_between("--density-tolerance", density_tolerance, 0, 1e6);
  require(at.empty() || !training.model.empty(), "--at needs --train: it names steps of that training");
  for (const index_t step : at) {
    require(step >= 0 && step < training.steps, "--at {} is not allowed; allowed: 0 to {}, the last of --steps {}",
            step, training.steps - 1, training.steps);
  }
}

std::string Options::method_list() const {
  if (methods != "all") return methods;
  std::string list;
  for (const auto& entry : all_entries()) list += (list.empty() ? "" : ",") + entry.info.name;
  return list;
}

}  // namespace gradcomp::evaluate
