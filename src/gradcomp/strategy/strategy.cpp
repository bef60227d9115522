#include "gradcomp/strategy/strategy.hpp"

#include <optional>

#include "gradcomp/comm/agree.hpp"
#include "gradcomp/core/spec_part.hpp"

namespace gradcomp {

Context StepContext::context(const Transport& transport, std::uint64_t seed) const {
  Context context{seed, step, transport.rank(), transport.size()};
  context.rate = rate;
  context.exchange = exchange;
  return context;
}

StrategyChoice choose_strategy(const MethodSpec& method, const std::string& job) {
  const auto [owner, part] = choose_part(method, "strategy", method.strategy_options, job);
  const StrategyEntry& entry = find_by_name(all_strategies(), "strategy", part.name);
  return {entry, ParameterValues(owner + ", strategy " + entry.name, entry.parameters, part.options)};
}

std::unique_ptr<Strategy> make_strategy(const MethodSpec& method, const Layout& layout, index_t buffers,
                                        Transport& transport, const StrategyOptions& options) {
  std::optional<StrategyChoice> choice;
  run_collectively(transport, [&] { choice.emplace(choose_strategy(method, options.strategy)); });
  require_same_on_all_ranks(transport, "strategy", choice->entry.name + ":" + choice->own.canonical());
  StrategyOptions own = options;
  run_collectively(transport, [&] { own.update = update_options(options.update, method); });
  return choice->entry.make({method, layout, buffers, transport, own, choice->own});
}

UpdateOptions update_options(const UpdateOptions& job, const MethodSpec& method) {
  const Info& info = method.compressor->info();
  const bool votes = info.property == Info::Property::sign;
  if (!holds_momentum(method.common) && !votes && !info.rate_inside) return job;
  require(job.optimiser.name == "sgd",
          "method '{}' needs an optimiser without momentum, and {} always has one; allowed: --optimiser sgd",
          method.text, job.optimiser.name);
  UpdateOptions without = job;
  without.optimiser.momentum = 0;
  without.optimiser.form = nn::MomentumForm::heavy_ball;
  return without;
}

}  // namespace gradcomp
