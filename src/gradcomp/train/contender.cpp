#include "gradcomp/train/contender.hpp"

#include <fmt/format.h>

namespace gradcomp::train {

std::vector<Contender> contenders(const Options& options, const std::vector<MethodSpec>& methods) {
  std::vector<Contender> all;
  for (const MethodSpec& spec : methods) all.push_back({spec, spec.learning_rate(options.learning_rate), 1, {}});
  if (options.accumulate > 1) {
    MethodSpec spec = parse_method("fp32");
    const std::string suffix = fmt::format(":accumulate={}", options.accumulate);
    spec.label += suffix;
    spec.canonical += suffix;
    all.push_back({spec, spec.learning_rate(options.learning_rate), options.accumulate, {}});
  }
  return all;
}

}  // namespace gradcomp::train
