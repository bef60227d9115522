#include "command_line.hpp"

#include <CLI/CLI.hpp>

#include "gradcomp/program/program.hpp"
#include "shared/training_options.hpp"

using namespace gradcomp;

std::optional<int> parse_command_line(int argc, char** argv, bool prints, tune::Options& o) {
  CLI::App app{
      "Finds what a later gradcomp-train should use: the learning rate of each method, by short trainings around --lr\n"
      "(or around the method's own lr=), judged on the validation set; and the bucket size at which each dense "
      "control\n"
      "is fastest. Takes the options that say what gradcomp-train trains. Start it with mpirun or srun.",
      "gradcomp-tune"};
  begin_options(app);
  app.add_option("--rates", o.train.rates,
                 "file for the learning rates and bucket sizes (JSON); needed; a tuning that was interrupted goes on "
                 "with this file");
  app.add_option("--tune-steps", o.steps, "number of steps in a trial");
  app.add_option("--tune-trials", o.trials, "number of rates that are tried for every method");
  app.add_option("--tune-seeds", o.seeds, "number of seeds of every trial; results may not use these seeds");
  app.add_flag("--buckets-only", o.buckets_only,
               "only time the dense controls: five bucket sizes, over a real link also with our ring; with several "
               "links, over all of them in turn");
  add_training_options(app, o.train);
  if (const auto status = parse(app, argc, argv, prints)) return status;
  o.train.block = o.train.accumulate;  // a trial is one block, and a sweep chooses its own
  o.check();
  return std::nullopt;
}
