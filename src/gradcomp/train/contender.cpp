#include "gradcomp/train/contender.hpp"

#include <fmt/format.h>

#include "gradcomp/method/spec.hpp"
#include "gradcomp/sampling/batch_sampler.hpp"

namespace gradcomp::train {

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
