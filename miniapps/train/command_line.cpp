#include "command_line.hpp"

#include <CLI/CLI.hpp>

#include "gradcomp/program/program.hpp"
#include "shared/former_options.hpp"
#include "shared/training_options.hpp"

using namespace gradcomp;

std::optional<int> parse_command_line(int argc, char** argv, bool prints, train::Options& o) {
  CLI::App app{
      "Trains one model data-parallel with one or more gradient compressors in one job, beside uncompressed controls,\n"
      "and reports time, bytes and quality. Start it with mpirun or srun; without them it runs as one rank.",
      "gradcomp-train"};
  begin_options(app);
  add_training_options(app, o);
  app.add_option("--seed", o.seed, "seed of initial weights, data order and randomised compressors");
  app.add_option("--seeds", o.seeds,
                 "number of repetitions, with the seeds --seed, --seed + 1, ...; gives means with 95 % intervals");
  app.add_option("--block", o.block, "number of steps that one method runs before the next one takes its turn");
  app.add_option(
      "--evaluate-every", o.evaluate_every,
      "number of steps between evaluations on the validation set; a multiple of the period of strategy local; "
      "0: four evaluations in all, or fewer if a period is longer");
  app.add_option(
      "--quality-tolerance", o.quality_tolerance,
      "loss of quality against fp32 that still counts as matched, at most 0.05; 0.02 is 2 points of accuracy or 2 % of "
      "perplexity");
  app.add_option("--target", o.target,
                 "target quality, accuracy=X or perplexity=X; reports time, steps and bytes until an evaluation "
                 "reaches it");
  app.add_option("--rates", o.rates,
                 "file of learning rates and bucket sizes, as gradcomp-tune writes it; rates hold for every link, but "
                 "results say if the sizes were timed over another link or with another strategy");
  app.add_option("--checkpoint", o.checkpoint_folder, "folder for checkpoints");
  app.add_option("--checkpoint-every", o.checkpoint_every,
                 "number of steps between checkpoints, which are written at the ends of blocks; 0: only one, after the "
                 "last step");
  app.add_option("--resume", o.resume_folder, "folder of the checkpoints from which the run continues");
  app.add_option("--replay-slices", o.replay_slices,
                 "result file of an earlier run; each step evaluates as many slices of importance as in that run");
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
  app.add_option("--dump-batches", o.batch_folder,
                 "folder in which rank R writes rankR: the initial weights, all its training batches, its losses with "
                 "the first method, and the options of the update, with which another program can repeat the training");
  app.add_flag("--wide", o.wide, wide_help);
  app.add_option("--output", o.output, "result file (JSON)");
  for (const char* former : {"--tune", "--tune-steps", "--tune-trials", "--tune-seeds"}) {
    moved_option(app, former, "gradcomp-tune");
  }
  moved_option(app, "--sweep-buckets", "gradcomp-tune --buckets-only, and give its file to --rates");
  moved_option(app, "--describe", "gradcomp-methods --describe");
  moved_option(app, "--list", "gradcomp-methods");

  if (const auto status = parse(app, argc, argv, prints)) return status;
  o.check();
  return std::nullopt;
}
