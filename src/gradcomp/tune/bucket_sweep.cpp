#include "gradcomp/tune/bucket_sweep.hpp"

#include <algorithm>

#include "gradcomp/comm/agree.hpp"
#include "gradcomp/method/spec.hpp"
#include "gradcomp/train/comparison.hpp"

namespace gradcomp::tune {
namespace {

/// The steps between two exchanges of the job's strategy. Collective.
index_t period_of(const train::Job& job) {
  const MethodSpec fp32 = parse_method("fp32");
  const StrategyOptions options = job.options.strategy_options();
  return make_strategy(fp32, job.model.layout(), job.model.buffer_count(), job.control, options)->period();
}

/// Three blocks over each link, of at least six steps and of two periods or more: the first step or period of a block
/// is not timed.
train::Options sweep_options(const train::Options& options, index_t period, index_t links) {
  const index_t block = period * std::max<index_t>(2, (6 * options.accumulate + period - 1) / period);
  train::Options sweep = options.trial(train::first_trial_seed, 3 * links * block);
  sweep.block = block;
  sweep.warmup = 0;
  return sweep;
}

}  // namespace

bool takes_bucket_size(const train::Options& options) {
  const StrategyChoice choice = choose_strategy(parse_method("fp32"), options.strategy);
  const auto& parameters = choice.entry.parameters;
  const bool has_size =
      std::any_of(parameters.begin(), parameters.end(), [](const Parameter& p) { return p.name == "bucket_kib"; });
  return has_size && choice.own.integer("bucket_kib") == 0;
}

void check_bucket_sweep(const train::Options& options) {
  require(!options.controls || takes_bucket_size(options),
          "bucket sizes cannot be timed with --strategy {}: this strategy sets its own buckets, or has none; allowed: "
          "--no-controls, or a strategy with bucket_kib=0",
          options.strategy);
}

void take_forms(std::vector<train::Contender>& contenders, const Rates& rates, const train::Options& options) {
  if (!takes_bucket_size(options)) return;
  const DenseForms forms = rates.best_forms();
  const std::optional<SweepConditions>& sweep = rates.bucket_sweep();
  const std::string elsewhere = !sweep ? "unknown" : *sweep == sweep_conditions(options) ? "" : sweep->text();
  for (train::Contender& c : contenders) {
    const auto found = forms.find(c.spec.compressor->info().name);
    if (c.role == train::Contender::Role::method || found == forms.end()) continue;
    const std::string label = c.spec.label;
    c.spec = parse_method(found->second.method);
    c.spec.label = label;
    c.bucket_kib = found->second.bucket_kib;
    c.bucket_sweep = elsewhere;
  }
}

void sweep_forms(const Exec& exec, const train::Job& job, Rates& rates, const std::function<void()>& added) {
  const train::Options options =
      sweep_options(job.options, period_of(job), job.links == nullptr ? 1 : job.links->count());
  const train::Job sweep{options, job.task, job.model, job.transport, job.control, nullptr, job.links};
  for (const std::string& method : dense_forms(job.links == nullptr)) {
    if (rates.has_times(method)) continue;
    const MethodSpec spec = parse_method(method);
    std::vector<train::Contender> contenders;
    for (const index_t kib : swept_kib) {
      contenders.push_back({spec, spec.learning_rate(options.learning_rate), {}, kib});
    }
    for (const train::MethodResult& result : train::compare(exec, sweep, contenders, [](const std::string&) {})) {
      if (result.diverged_at) {
        throw AgreedError(
            fmt::format("the sweep of bucket sizes: {} diverged at step {} with learning rate {}; lower --lr", method,
                        *result.diverged_at, result.contender.learning_rate));
      }
      rates.add_time({method, *result.contender.bucket_kib}, result.mean_ms());
    }
    added();
  }
}

}  // namespace gradcomp::tune
