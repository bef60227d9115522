#include "gradcomp/train/contender.hpp"

#include <fmt/format.h>

#include <utility>

namespace gradcomp::train {

Entrant::Role Contender::role() const {
  using Role = Entrant::Role;
  if (is_bound()) return Role::bound;
  for (const auto& [name, role] : {std::pair{"fp32", Role::fp32}, {"fp16", Role::fp16}, {"bf16", Role::bf16}}) {
    if (spec.canonical == parse_method(name).canonical) return role;
  }
  return Role::method;
}

std::vector<Contender> contenders(const Options& options, const std::vector<MethodSpec>& methods) {
  std::vector<Contender> all;
  for (const MethodSpec& spec : methods) all.push_back({spec, spec.learning_rate(options.learning_rate)});
  if (options.accumulate > 1) {
    const bool overlap = options.strategy != "synchronous";
    MethodSpec spec = parse_method(fmt::format("fp32:strategy=accumulate:strategy.every={}{}", options.accumulate,
                                               overlap ? "" : ":strategy.overlap=off"));
    spec.label = fmt::format("fp32:accumulate={}", options.accumulate);
    all.push_back({spec, spec.learning_rate(options.learning_rate)});
  }
  for (const Contender& c : all) choose_strategy(c.spec, options.strategy);  // throws for one that does not exist
  return all;
}

}  // namespace gradcomp::train
