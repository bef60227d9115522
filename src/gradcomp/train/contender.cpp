#include "gradcomp/train/contender.hpp"

#include <fmt/format.h>

#include <map>

#include "gradcomp/method/spec.hpp"
#include "gradcomp/sampling/batch_sampler.hpp"

namespace gradcomp::train {

Contender::Role Contender::role() const {
  static const std::map<std::string, Role> dense = {{parse_method("fp32").canonical, Role::fp32},
                                                    {parse_method("fp16").canonical, Role::fp16},
                                                    {parse_method("bf16").canonical, Role::bf16}};
  if (is_bound()) return Role::bound;
  const auto found = dense.find(spec.canonical);
  return found == dense.end() ? Role::method : found->second;
}

std::string Contender::tuned_as() const {
  return role() == Role::method ? spec.canonical : parse_method("fp32").canonical;
}

std::string to_string(Contender::Role role) {
  constexpr const char* names[] = {"method", "bound", "fp32", "fp16", "bf16"};
  return names[static_cast<int>(role)];
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
  for (const Contender& c : all) {  // throws for what does not exist
    choose_strategy(c.spec, options.strategy);
    choose_sampler(c.spec, options.sampler);
  }
  return all;
}

}  // namespace gradcomp::train
