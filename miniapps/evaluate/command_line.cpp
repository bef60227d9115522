#include "command_line.hpp"

#include <CLI/CLI.hpp>

#include "gradcomp/core/version_config.hpp"
#include "gradcomp/data/dataset.hpp"
#include "gradcomp/data/frames.hpp"
#include "gradcomp/data/text.hpp"
#include "gradcomp/program/program.hpp"

std::optional<int> parse_command_line(int argc, char** argv, bool prints, CommandLine& line) {
  auto& o = line.evaluate;
  auto& t = o.training;
  CLI::App app{
      "Evaluates compressors on gradients from files, from distributions or from a training under way: what they "
      "keep,\n"
      "send and lose, how long they take beside one read of the gradient, and whether their answer is right.",
      "gradcomp-evaluate"};
  app.set_version_flag("--version", "gradcomp-evaluate " GRADCOMP_VERSION);
  app.set_config("--config", "", "read options from a TOML file");
  app.option_defaults()->always_capture_default();
  app.add_option("--methods", o.methods, "comma-separated method specs, see --list; all: every method, its defaults");
  app.add_option("--input", o.input,
                 "gradients as .npy files of floats, any shape; folders with one such file for each tensor; .npz files "
                 "of tensors");
  app.add_option("--data", o.data, "synthetic gradients: laplace, gamma[:shape], pareto[:xi], gauss; +zeros:SHARE")
      ->delimiter(',');
  app.add_option("--size", o.size, "elements of a synthetic gradient");
  app.add_option(
      "--layout", o.layout,
      "tensors of --input and --data: a model, e.g. resnet18, lstm_3x650, or a file with a line NAME 64x3x3 for each");
  app.add_option("--repeats", o.repeats, "fresh draws of a synthetic gradient, each evaluated on its own");
  app.add_option("--residual-steps", o.residual_steps,
                 "steps of a loop with each method's feedback on --input (files in turn) and --data (fresh draws); "
                 "0: every gradient once, without feedback");
  app.add_option("--train", t.model, "hand the gradient of every step of a training of this model to all methods");
  app.add_option("--dataset", t.dataset,
                 fmt::format("of --train: {}, {}, {}", gradcomp::data::image_specs, gradcomp::data::text_specs,
                             gradcomp::data::frames_specs));
  app.add_option("--steps", t.steps, "steps of --train");
  app.add_option("--batch", t.batch, "samples per step of --train");
  app.add_option("--lr", t.learning_rate, "learning rate of --train, with cosine decay");
  app.add_option("--at", o.at, "steps of --train, from 0, that the records show apart and --dump writes")
      ->delimiter(',');
  app.add_option("--timings", o.timings, "timed repetitions of a gradient without feedback");
  app.add_option("--trials", o.trials,
                 "repeat every gradient without feedback this often with fresh random numbers: bias_z, contraction");
  app.add_option("--seed", o.seed,
                 "seed of synthetic gradients, initial weights, data order and randomised compressors");
  app.add_option("--density-tolerance", o.density_tolerance,
                 "fail when a method's median of achieved / target density leaves 1 +- this; 0: off");
  app.add_option("--dump", o.dump_folder,
                 "folder for the payload (.bin) and the decoded gradient (_decoded.npy) of each method's last step");
  app.add_option("--output", o.output, "result file (JSON)");
  app.add_flag("--list{text}", line.list, "list the methods; --list=json for programs")
      ->check(CLI::IsMember({"text", "json"}));
  app.footer("Also takes Kokkos' own options (--kokkos-help).");
  if (const auto status = gradcomp::parse(app, argc, argv, prints)) return status;
  t.seed = o.seed;
  return std::nullopt;
}
