#include "gradcomp/train/options.hpp"

#include "gradcomp/core/allowed.hpp"
#include "gradcomp/train/straggler.hpp"

namespace gradcomp::train {
namespace {

/// True when some spec of the comma-separated `list` is exactly `name`.
bool lists(const std::string& list, const std::string& name) {
  return ("," + list + ",").find("," + name + ",") != std::string::npos;
}

}  // namespace

Options Options::trial(std::uint64_t trial_seed, index_t trial_steps) const {
  Options trial = *this;
  trial.is_trial = true;
  trial.seed = trial_seed;
  trial.steps = trial.evaluate_every = trial_steps;
  trial.dump_folder.clear();
  trial.importance_folder.clear();
  trial.dump_steps.clear();
  trial.batch_folder.clear();
  trial.target.clear();
  trial.replay_slices.clear();
  return trial;
}

void Options::check() const {
  require(steps >= 1, "--steps {} is not allowed; allowed: at least 1", steps);
  require(batch >= 1, "--batch {} is not allowed; allowed: at least 1 sample per rank", batch);
  require_between("--lr", learning_rate, 1e-12, 1e6);
  require(momentum >= 0 && momentum < 1, "--momentum {} is not allowed; allowed: a number in [0, 1)", momentum);
  require(nn::momentum_form(nesterov) == nn::MomentumForm::heavy_ball || momentum > 0,
          "--nesterov on and powersgd need --momentum above 0");
  require(optimiser == "sgd" || optimiser == "adamw", "--optimiser {} is not allowed; allowed: one of sgd, adamw",
          optimiser);
  require(beta1 >= 0 && beta1 < 1, "--beta1 {} is not allowed; allowed: a number in [0, 1)", beta1);
  require(beta2 >= 0 && beta2 < 1, "--beta2 {} is not allowed; allowed: a number in [0, 1)", beta2);
  require_between("--epsilon", epsilon, 1e-30, 1);
  require_between("--timeout", timeout, 0, 1e7, "seconds");
  require_between("--weight-decay", weight_decay, 0, 1000);
  require(warmup >= 0 && warmup <= steps, "--warmup {} is not allowed; allowed: 0 to --steps ({})", warmup, steps);
  require(length >= 0, "--length {} is not allowed; allowed: 0 or more steps", length);
  require_between("--clip", clip, 0, 1e30);
  require_between("--skew", skew, 0, 1e9);
  require(bucket_kib >= 0, "--bucket-kib {} is not allowed; allowed: auto, or at least 1", bucket_kib);
  require(evaluate_every >= 0, "--evaluate-every {} is not allowed; allowed: 0 or more steps", evaluate_every);
  require(block >= 1, "--block {} is not allowed; allowed: at least 1 step", block);
  require(quality_tolerance >= 0 && quality_tolerance <= 0.05,
          "--quality-tolerance {} is not allowed; allowed: a number in [0, 0.05]; with more, methods of different "
          "quality would match",
          quality_tolerance);
  require_between("--density-tolerance", density_tolerance, 0, 1e6);
  require(seeds >= 1, "--seeds {} is not allowed; allowed: at least 1", seeds);
  require(accumulate >= 1 && steps % accumulate == 0 && block % accumulate == 0,
          "--accumulate {} is not allowed; allowed: a divisor of --steps ({}) and --block ({})", accumulate, steps,
          block);
  require(seed + static_cast<std::uint64_t>(seeds) <= first_trial_seed,
          "--seed {} with --seeds {} is not allowed: the seeds from {} on are those of gradcomp-tune", seed, seeds,
          first_trial_seed);
  require(checkpoint_every >= 0, "--checkpoint-every {} is not allowed; allowed: 0 or more steps", checkpoint_every);
  require(checkpoint_every == 0 || !checkpoint_folder.empty(), "--checkpoint-every needs --checkpoint");
  StragglerOptions::parse(straggler);
  require(dump_folder.empty() || seeds == 1, "--seeds {} is not allowed with --dump-gradients; allowed: 1", seeds);
  require(importance_folder.empty() || seeds == 1, "--seeds {} is not allowed with --dump-importance; allowed: 1",
          seeds);
  require(batch_folder.empty() || seeds == 1, "--seeds {} is not allowed with --dump-batches; allowed: 1", seeds);
  require(batch_folder.empty() || resume_folder.empty(),
          "--resume is not allowed with --dump-batches, which needs all steps");
  require((dump_folder.empty() && importance_folder.empty()) == dump_steps.empty(),
          "--dump-gradients or --dump-importance needs --at, and --at needs one of them");
  for (const index_t step : dump_steps) {
    require(step >= 0 && step < steps, "--at {} is not allowed; allowed: 0 to {}, the last of --steps {}", step,
            steps - 1, steps);
  }
}

StrategyOptions Options::strategy_options() const {
  StrategyOptions o;
  o.strategy = strategy;
  o.exchange.bucket_bytes = 1024 * bucket_kib;
  o.exchange.seed = seed;
  o.exchange.limit_seconds = timeout;
  o.update.optimiser = {optimiser, momentum, nn::momentum_form(nesterov), beta1, beta2, epsilon, weight_decay, false};
  o.update.clip = clip;
  o.keep_gradient = !dump_folder.empty();
  return o;
}

std::string Options::method_list() const {
  std::string list = methods;
  if (controls) {
    std::string missing;
    for (const char* control : {"fp32", "fp16", "bf16", "no_exchange"}) {
      if (!lists(methods, control)) missing += std::string(control) + ",";
    }
    list = missing + methods;
  }
  return list;
}

}  // namespace gradcomp::train
