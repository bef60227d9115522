#include "command_line.hpp"

#include <CLI/CLI.hpp>

#include "gradcomp/core/error.hpp"
#include "gradcomp/data/registry.hpp"
#include "gradcomp/program/program.hpp"
#include "shared/former_options.hpp"
#include "shared/training_options.hpp"

std::optional<int> parse_command_line(int argc, char** argv, bool prints, gradcomp::evaluate::Options& o) {
  auto& t = o.training;
  CLI::App app{
      "Evaluates compressors on gradients from files, from distributions or from a running training: what they keep,\n"
      "send and lose, how long they take compared with one read of the gradient, and whether their answer is right.",
      "gradcomp-evaluate"};
  gradcomp::begin_options(app);
  app.add_option("--methods", o.methods,
                 "method specs, separated by commas; gradcomp-methods lists them; all: every method with its defaults");
  app.add_option("--input", o.input,
                 "gradients: .npy files of floats with any shape, folders with one such file for each tensor, or .npz "
                 "files of tensors");
  app.add_option("--data", o.data,
                 "synthetic gradients: laplace, gamma[:shape], pareto[:xi] or gauss; +zeros:SHARE adds zeros")
      ->delimiter(',');
  const auto* const size =
      app.add_option("--size", o.size, "number of elements in a synthetic gradient without --layout");
  app.add_option(
      "--layout", o.layout,
      "tensors of --input and --data: a model, for example resnet18 or lstm_3x650, or a file with a line like NAME "
      "64x3x3 for each tensor");
  app.add_option("--repeats", o.repeats,
                 "number of independent draws of a synthetic gradient; each is evaluated separately");
  app.add_option("--residual-steps", o.residual_steps,
                 "number of steps of a loop with each method's feedback, over the files of --input in turn and over "
                 "fresh draws of --data; 0: every gradient once, without feedback");
  app.add_option("--train", t.model, "train this model, and evaluate all methods on the gradient of every step");
  app.add_option("--dataset", t.dataset, "data set of --train: " + gradcomp::data::dataset_specs());
  app.add_option("--steps", t.steps, "number of steps of --train");
  app.add_option("--batch", t.batch, "samples per step of --train");
  app.add_option("--lr", t.learning_rate, "learning rate of --train, with cosine decay");
  app.add_option("--at", o.at, "steps of --train, counted from 0, that result files show separately and --dump writes")
      ->delimiter(',');
  app.add_option("--timings", o.timings, "number of timed repetitions for each gradient without feedback");
  app.add_option("--trials", o.trials,
                 "number of trials with fresh random numbers for each gradient without feedback; gives bias, bias_z "
                 "and contraction");
  app.add_option("--seed", o.seed,
                 "seed of synthetic gradients, initial weights, data order and randomised compressors");
  app.add_option("--density-tolerance", o.density_tolerance,
                 "fail if a method's median of achieved / target density is further from 1 than this; 0: off");
  app.add_option("--dump", o.dump_folder,
                 "folder for the payload (.bin) and the decoded gradient (_decoded.npy) of each method's last step");
  app.add_flag("--wide", o.wide, wide_help);
  app.add_option("--output", o.output, "result file (JSON)");
  moved_option(app, "--list", "gradcomp-methods");
  if (const auto status = gradcomp::parse(app, argc, argv, prints)) return status;
  gradcomp::require(size->empty() || (!o.data.empty() && o.layout.empty()),
                    "--size {} is not allowed here: it is the size of gradients of --data without --layout", o.size);
  t.seed = o.seed;
  return std::nullopt;
}
