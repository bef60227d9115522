#include "command_line.hpp"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/version_config.hpp"
#include "gradcomp/data/registry.hpp"
#include "gradcomp/nn/make_model.hpp"
#include "gradcomp/program/program.hpp"

using namespace gradcomp;

namespace {

/// The number of --bucket-kib.
index_t parse_kib(const std::string& text) {
  index_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  require(error == std::errc() && end == text.data() + text.size() && value >= 1,
          "--bucket-kib {} is not allowed; auto, or at least 1", text);
  return value;
}

}  // namespace

std::optional<int> parse_command_line(int argc, char** argv, bool prints, CommandLine& line) {
  auto& o = line.train;
  std::string bucket_kib = "auto";
  int ranks_per_node = 0;
  CLI::App app{
      "Trains one model data-parallel with one or many gradient compressors in one job, beside uncompressed controls,\n"
      "and reports time, bytes and quality. Start it with mpirun or srun, or alone as one rank.",
      "gradcomp-train"};
  app.set_version_flag("--version", "gradcomp-train " GRADCOMP_VERSION);
  app.set_config("--config", "", "read options from a TOML file");
  app.option_defaults()->always_capture_default();
  app.add_option("--data", o.data, data::dataset_specs());
  app.add_option("--length", o.length, "steps of a sequence in one batch (texts, frames); 0: the default of the data");
  app.add_option("--model", o.model, fmt::format("{}", fmt::join(nn::model_names(), ", ")));
  app.add_option("--methods", o.methods,
                 "comma-separated method specs, name:key=value:...[+CODER][+huffman]; see --list");
  app.add_flag("!--no-controls", o.controls, "do not add the controls fp32, fp16, bf16 and no_exchange");
  app.add_option("--steps", o.steps, "training steps of each method");
  app.add_option("--batch", o.batch, "samples per rank and step");
  app.add_option("--lr", o.learning_rate, "learning rate; a method's own lr=... comes first");
  app.add_option("--optimiser", o.optimiser, "sgd or adamw")->check(CLI::IsMember({"sgd", "adamw"}));
  app.add_option("--momentum", o.momentum, "of sgd");
  app.add_flag("--nesterov{on}", o.nesterov,
               "the step is g + momentum v in place of v = momentum v + g; --nesterov=powersgd: g + v, as PowerSGD's "
               "authors have it")
      ->check(CLI::IsMember({"off", "on", "powersgd"}));
  app.add_option("--beta1", o.beta1, "of adamw: share of the old mean of gradients");
  app.add_option("--beta2", o.beta2, "of adamw: share of the old mean of their squares");
  app.add_option("--epsilon", o.epsilon, "of adamw");
  app.add_option("--weight-decay", o.weight_decay, "on matrices and filters");
  app.add_option("--decay", o.decay, "learning-rate schedule")->check(CLI::IsMember({"cosine", "constant"}));
  app.add_option("--warmup", o.warmup, "steps of linear warm-up of the learning rate");
  app.add_option("--clip", o.clip,
                 "largest L2 norm of the mean gradient, which is scaled down to it; 0 leaves it as it is");
  app.add_flag("--augment", o.augment, "random crops and mirror images");
  app.add_option("--skew", o.skew,
                 "label skew: concentration of the Dirichlet distribution by which a class is dealt to ranks, less is "
                 "more skewed; 0: dealt evenly");
  app.add_option("--seed", o.seed, "seed of initial weights, data order and randomised compressors");
  app.add_option("--strategy", o.strategy, "when replicas exchange, name:key=value; see --list=strategies");
  app.add_option("--sampler", o.sampler,
                 "how batches are drawn, name:key=value: uniform, or by importance; see --list=samplers");
  app.add_option("--replay-slices", o.replay_slices,
                 "result file of an earlier run: evaluate as many slices of importance in each step as it did");
  app.add_option("--bucket-kib", bucket_kib,
                 "gradient KiB fused into one bucket; auto: sizes that follow from the model");
  app.add_option("--evaluate-every", o.evaluate_every,
                 "steps between evaluations on the validation set; 0: four in all");
  app.add_option("--block", o.block, "steps of one method before the next one runs");
  app.add_option(
      "--quality-tolerance", o.quality_tolerance,
      "quality below fp32 that still counts as matched, up to 0.05: 0.02 is 2 points of accuracy, or 2 % perplexity");
  app.add_option("--target", o.target,
                 "quality to be reached, accuracy=X or perplexity=X: time, steps and bytes until an evaluation saw it");
  app.add_option("--seeds", o.seeds, "repetitions with seeds --seed, --seed + 1, ...: means with 95 % intervals");
  app.add_option("--accumulate", o.accumulate,
                 "adds the control fp32:accumulate=N, which sums up N batches and exchanges every N-th step; 1: no");
  app.add_flag(
      "--tune", o.tune,
      "find each method's learning rate by short runs around --lr, or its own lr=, on the validation set, and the "
      "controls' bucket sizes, and write --rates; goes on where an interrupted one stopped");
  app.add_option("--tune-steps", o.tune_steps, "steps of a trial of --tune");
  app.add_option("--tune-trials", o.tune_trials, "rates that --tune tries for every method");
  app.add_option("--tune-seeds", o.tune_seeds, "seeds of every trial, which no result may have");
  app.add_flag("--sweep-buckets", o.sweep_buckets,
               "time the dense controls in buckets of five sizes first, and give each its fastest; --tune does it too");
  app.add_option("--rates", o.rates, "file of learning rates and bucket sizes, as --tune writes it");
  app.add_option("--checkpoint", o.checkpoint_folder, "folder for checkpoints");
  app.add_option("--checkpoint-every", o.checkpoint_every,
                 "steps between checkpoints, at the ends of blocks; 0: one, after the last step");
  app.add_option("--resume", o.resume_folder, "folder of the checkpoints to go on from");
  app.add_option("--density-tolerance", o.density_tolerance,
                 "fail when a method's median of achieved / target density leaves 1 +- this; 0: off");
  app.add_option("--dump-gradients", o.dump_folder,
                 "folder for rank 0's own gradient at the steps of --at: LABEL_stepSTEP_gradient.npy, and with "
                 "feedback what the compressor sees, gradient and memory, as LABEL_stepSTEP_accumulated.npy");
  app.add_option("--dump-importance", o.importance_folder,
                 "folder for the loss of each training sample that rank 0 begins with, before the steps of --at: "
                 "LABEL_stepSTEP_losses.npy, in the order of the samples' numbers");
  app.add_option("--at", o.dump_steps, "steps, from 0, at which --dump-gradients and --dump-importance write")
      ->delimiter(',');
  app.add_option("--transport", o.transport, "what carries messages, name:key=value; see --list=transports");
  app.add_option("--ranks-per-node", ranks_per_node,
                 "emulate nodes of so many ranks, which follow each other (reducer=hierarchical), as --transport "
                 "mpi:ranks_per_node=N does; 0: as the machine has")
      ->check(CLI::Range(0, 1 << 20));
  app.add_option(
      "--time-limit", o.time_limit,
      "seconds that a rank waits for the others, in exchanges and between steps, before the job ends with an "
      "error; 0: for ever");
  app.add_option("--link", o.link,
                 "emulate a link, e.g. 100Mbit/s,50us; several rates, e.g. 100Mbit/s,1Gbit/s,50us, take turns, a block "
                 "of steps each: "
                 "from which rate down does a method pay? Default: the real link");
  app.add_option(
      "--straggler", o.straggler,
      "slow ranks: rank=1,factor=2 lengthens rank 1's computation, jitter=0.3 every rank's by a random share "
      "in every step; both may be given");
  app.add_option("--output", o.output, "result file (JSON)");
  app.add_flag("--describe", line.describe, "print tensors, buckets and payload bytes per step, without training");
  app.add_flag("--list{text}", line.list,
               "list the methods; --list=markdown for the page of the docs, --list=strategies, --list=samplers, "
               "--list=transports")
      ->check(CLI::IsMember({"text", "markdown", "strategies", "samplers", "transports"}));
  app.footer("Also takes Kokkos' own options (--kokkos-help).");

  if (const auto status = parse(app, argc, argv, prints)) return status;
  if (ranks_per_node > 0) o.transport += fmt::format(":ranks_per_node={}", ranks_per_node);
  o.bucket_kib = bucket_kib == "auto" ? 0 : parse_kib(bucket_kib);
  o.check();
  return std::nullopt;
}
