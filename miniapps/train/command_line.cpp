#include "command_line.hpp"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "../renamed_option.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/core/version_config.hpp"
#include "gradcomp/data/registry.hpp"
#include "gradcomp/nn/make_model.hpp"
#include "gradcomp/program/program.hpp"

using namespace gradcomp;

namespace {

index_t parse_kib(const std::string& text) {
  index_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  require(error == std::errc() && end == text.data() + text.size() && value >= 1,
          "--bucket-kib {} is not allowed; it must be auto or at least 1", text);
  return value;
}

}  // namespace

std::optional<int> parse_command_line(int argc, char** argv, bool prints, CommandLine& line) {
  auto& o = line.train;
  std::string bucket_kib = "auto";
  int ranks_per_node = 0;
  CLI::App app{
      "Trains one model data-parallel with one or more gradient compressors in one job, beside uncompressed controls,\n"
      "and reports time, bytes and quality. Start it with mpirun or srun; without them it runs as one rank.",
      "gradcomp-train"};
  app.set_version_flag("--version", "gradcomp-train " GRADCOMP_VERSION);
  app.set_config("--config", "", "read options from a TOML file");
  app.option_defaults()->always_capture_default();
  app.add_option("--data", o.data, data::dataset_specs());
  app.add_option("--length", o.length,
                 "number of steps of a sequence in one batch (texts, frames); 0: the default of the data set");
  app.add_option("--model", o.model, fmt::format("{}", fmt::join(nn::model_names(), ", ")));
  app.add_option("--methods", o.methods,
                 "method specs, separated by commas: name:key=value:...[+CODER][+huffman]; see --list");
  app.add_flag("!--no-controls", o.controls, "do not add the controls fp32, fp16, bf16 and no_exchange");
  app.add_option("--steps", o.steps, "number of training steps of each method");
  app.add_option("--batch", o.batch, "number of samples per rank and step");
  app.add_option("--lr", o.learning_rate, "learning rate; a method's own lr=... takes precedence");
  app.add_option("--optimiser", o.optimiser, "sgd or adamw")->check(CLI::IsMember({"sgd", "adamw"}));
  app.add_option("--momentum", o.momentum, "momentum of sgd");
  app.add_flag("--nesterov{on}", o.nesterov,
               "sgd makes the step g + momentum v, where v = momentum v + g, instead of the step v; "
               "--nesterov=powersgd: the step g + v, as PowerSGD's authors use it")
      ->check(CLI::IsMember({"off", "on", "powersgd"}));
  app.add_option("--beta1", o.beta1, "adamw: weight of the old value in the running mean of gradients");
  app.add_option("--beta2", o.beta2, "adamw: weight of the old value in the running mean of squared gradients");
  app.add_option("--epsilon", o.epsilon, "adamw: constant added to the denominator");
  app.add_option("--weight-decay", o.weight_decay, "weight decay of matrices and filters");
  app.add_option("--decay", o.decay, "learning-rate schedule")->check(CLI::IsMember({"cosine", "constant"}));
  app.add_option("--warmup", o.warmup, "steps of linear warm-up of the learning rate");
  app.add_option("--clip", o.clip,
                 "largest L2 norm of the mean gradient; a longer gradient is scaled down to this norm; 0: no clipping");
  app.add_flag("--augment", o.augment, "train on random crops and mirror images");
  app.add_option("--skew", o.skew,
                 "label skew: concentration of the Dirichlet distribution that gives the share of each rank in a "
                 "class; smaller is more skewed; 0: even shares");
  app.add_option("--seed", o.seed, "seed of initial weights, data order and randomised compressors");
  app.add_option("--strategy", o.strategy, "when replicas exchange: name:key=value; see --list=strategies");
  app.add_option("--sampler", o.sampler,
                 "how batches are drawn, uniformly or by importance: name:key=value; see --list=samplers");
  app.add_option("--replay-slices", o.replay_slices,
                 "result file of an earlier run; each step evaluates as many slices of importance as in that run");
  app.add_option("--bucket-kib", bucket_kib,
                 "size of a bucket in KiB of gradient; auto: sizes that follow from the model");
  app.add_option(
      "--evaluate-every", o.evaluate_every,
      "number of steps between evaluations on the validation set; a multiple of the period of strategy local; "
      "0: four evaluations in all, or fewer if a period is longer");
  app.add_option("--block", o.block, "number of steps that one method runs before the next one takes its turn");
  app.add_option(
      "--quality-tolerance", o.quality_tolerance,
      "loss of quality against fp32 that still counts as matched, at most 0.05; 0.02 is 2 points of accuracy or 2 % of "
      "perplexity");
  app.add_option("--target", o.target,
                 "target quality, accuracy=X or perplexity=X; reports time, steps and bytes until an evaluation "
                 "reaches it");
  app.add_option("--seeds", o.seeds,
                 "number of repetitions, with the seeds --seed, --seed + 1, ...; gives means with 95 % intervals");
  app.add_option("--accumulate", o.accumulate,
                 "add the control fp32:accumulate=N, which sums the gradients of N batches and exchanges in every N-th "
                 "step; 1: do not add it");
  app.add_flag(
      "--tune", o.tune,
      "find the learning rate of each method by short runs around --lr, or around its own lr=, judged on the "
      "validation set; also find the bucket sizes of the controls, and write the file of --rates; an interrupted "
      "tuning continues where it stopped");
  app.add_option("--tune-steps", o.tune_steps, "number of steps in a trial of --tune");
  app.add_option("--tune-trials", o.tune_trials, "number of rates that --tune tries for every method");
  app.add_option("--tune-seeds", o.tune_seeds, "number of seeds of every trial; measured runs may not use these seeds");
  app.add_flag("--sweep-buckets", o.sweep_buckets,
               "first time the dense controls with five bucket sizes, then use the fastest size of each; --tune does "
               "this too; with several links, the size with the least total time over all links");
  app.add_option("--rates", o.rates,
                 "file of learning rates and bucket sizes, as --tune writes it; rates hold for every link, but results "
                 "say if the sizes were timed over another link or with another strategy");
  app.add_option("--checkpoint", o.checkpoint_folder, "folder for checkpoints");
  app.add_option("--checkpoint-every", o.checkpoint_every,
                 "number of steps between checkpoints, which are written at the ends of blocks; 0: only one, after the "
                 "last step");
  app.add_option("--resume", o.resume_folder, "folder of the checkpoints from which the run continues");
  app.add_option("--density-tolerance", o.density_tolerance,
                 "fail if a method's median of achieved / target density is further from 1 than this; 0: off");
  app.add_option("--dump-gradients", o.dump_folder,
                 "folder for rank 0's own gradient at the steps of --at, as LABEL_stepSTEP_gradient.npy; with feedback "
                 "also for the compressor's input, gradient plus memory, as LABEL_stepSTEP_accumulated.npy; layout.txt "
                 "holds the tensors");
  app.add_option("--dump-importance", o.importance_folder,
                 "folder for the loss of each training sample with which rank 0 begins, before the steps of --at, as "
                 "LABEL_stepSTEP_losses.npy, ordered by the samples' numbers");
  app.add_option("--at", o.dump_steps, "steps, counted from 0, at which --dump-gradients and --dump-importance write")
      ->delimiter(',');
  app.add_option("--transport", o.transport,
                 "transport that carries the messages: name:key=value; see --list=transports");
  app.add_option("--ranks-per-node", ranks_per_node,
                 "number of consecutive ranks that form an emulated node (for reducer=hierarchical); short for "
                 "--transport mpi:ranks_per_node=N; 0: the nodes of the machine")
      ->check(CLI::Range(0, 1 << 20));
  app.add_option(
      "--timeout", o.timeout,
      "seconds that a rank waits for the others, in exchanges and between steps, before the job ends with an "
      "error; 0: for ever");
  renamed_option(app, "--time-limit", "--timeout");
  app.add_option("--link", o.link,
                 "emulate a link, for example 100Mbit/s,50us; several rates, for example 100Mbit/s,1Gbit/s,50us, take "
                 "turns, each for a block of steps, and show below which rate a method pays; default: the real link");
  app.add_option(
      "--straggler", o.straggler,
      "make ranks slow: rank=1,factor=2 doubles the computation time of rank 1; jitter=0.3 lengthens that of every "
      "rank by a random share in every step; both can be combined");
  app.add_option("--output", o.output, "result file (JSON)");
  app.add_flag("--describe", line.describe, "print tensors, buckets and payload bytes per step, without training");
  app.add_flag("--list{text}", line.list,
               "list the methods; --list=markdown prints the page of the docs; --list=strategies, --list=samplers and "
               "--list=transports list those")
      ->check(CLI::IsMember({"text", "markdown", "strategies", "samplers", "transports"}));
  app.footer("Also takes Kokkos' own options (--kokkos-help).");

  if (const auto status = parse(app, argc, argv, prints)) return status;
  if (ranks_per_node > 0) o.transport += fmt::format(":ranks_per_node={}", ranks_per_node);
  o.bucket_kib = bucket_kib == "auto" ? 0 : parse_kib(bucket_kib);
  o.check();
  return std::nullopt;
}
