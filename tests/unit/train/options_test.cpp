// What Options::check refuses, in which words, and what it lets through at the edges; options as result files have
// them.
#include "gradcomp/train/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "error_of.hpp"
#include "gradcomp/train/options_json.hpp"

namespace gradcomp::train {
namespace options_test {

using gradcomp::test::error_of;
using Change = std::function<void(Options&)>;

/// The message of check() after a change of the defaults; empty if they stay valid.
std::string refused(const Change& change) {
  Options options;
  options.steps = 40;
  change(options);
  return error_of([&] { options.check(); });
}

TEST(TrainOptions, SayWhatIsRefusedAndWhatIsAllowed) {
  const std::vector<std::pair<Change, std::string>> cases = {
      {[](Options& o) { o.steps = 0; }, "--steps 0 is not allowed; allowed: at least 1"},
      {[](Options& o) { o.batch = 0; }, "--batch 0 is not allowed; allowed: at least 1 sample per rank"},
      {[](Options& o) { o.learning_rate = 0; }, "--lr 0 is not allowed; allowed: 1e-12 to 1000000"},
      {[](Options& o) { o.momentum = 1; }, "--momentum 1 is not allowed; allowed: a number in [0, 1)"},
      {[](Options& o) { o.momentum = 2; }, "--momentum 2 is not allowed; allowed: a number in [0, 1)"},
      {[](Options& o) { o.momentum = -0.1; }, "--momentum -0.1 is not allowed; allowed: a number in [0, 1)"},
      {[](Options& o) {
         o.momentum = 0;
         o.nesterov = "on";
       },
       "--nesterov on and powersgd need --momentum above 0"},
      {[](Options& o) { o.optimiser = "lamb"; }, "--optimiser lamb is not allowed; allowed: one of sgd, adamw"},
      {[](Options& o) { o.beta1 = 1; }, "--beta1 1 is not allowed; allowed: a number in [0, 1)"},
      {[](Options& o) { o.beta1 = 2; }, "--beta1 2 is not allowed; allowed: a number in [0, 1)"},
      {[](Options& o) { o.beta1 = -1; }, "--beta1 -1 is not allowed; allowed: a number in [0, 1)"},
      {[](Options& o) { o.beta2 = 1; }, "--beta2 1 is not allowed; allowed: a number in [0, 1)"},
      {[](Options& o) { o.beta2 = 2; }, "--beta2 2 is not allowed; allowed: a number in [0, 1)"},
      {[](Options& o) { o.beta2 = -1; }, "--beta2 -1 is not allowed; allowed: a number in [0, 1)"},
      {[](Options& o) { o.epsilon = 0; }, "--epsilon 0 is not allowed; allowed: 1e-30 to 1"},
      {[](Options& o) { o.learning_rate = std::numeric_limits<double>::infinity(); },
       "--lr inf is not allowed; allowed: 1e-12 to 1000000"},
      {[](Options& o) { o.timeout = std::numeric_limits<double>::infinity(); },
       "--timeout inf is not allowed; allowed: 0 to 10000000 seconds"},
      {[](Options& o) { o.clip = std::numeric_limits<double>::quiet_NaN(); },
       "--clip nan is not allowed; allowed: 0 to 1e+30"},
      {[](Options& o) { o.timeout = -1; }, "--timeout -1 is not allowed; allowed: 0 to 10000000 seconds"},
      {[](Options& o) { o.weight_decay = -1; }, "--weight-decay -1 is not allowed; allowed: 0 to 1000"},
      {[](Options& o) { o.warmup = 41; }, "--warmup 41 is not allowed; allowed: 0 to --steps (40)"},
      {[](Options& o) { o.warmup = -1; }, "--warmup -1 is not allowed; allowed: 0 to --steps (40)"},
      {[](Options& o) { o.length = -1; }, "--length -1 is not allowed; allowed: 0 or more steps"},
      {[](Options& o) { o.clip = -1; }, "--clip -1 is not allowed; allowed: 0 to 1e+30"},
      {[](Options& o) { o.skew = -1; }, "--skew -1 is not allowed; allowed: 0 to 1000000000"},
      {[](Options& o) { o.bucket_kib = -1; }, "--bucket-kib -1 is not allowed; allowed: auto, or at least 1"},
      {[](Options& o) { o.evaluate_every = -1; }, "--evaluate-every -1 is not allowed; allowed: 0 or more steps"},
      {[](Options& o) { o.block = 0; }, "--block 0 is not allowed; allowed: at least 1 step"},
      {[](Options& o) { o.quality_tolerance = 0.06; },
       "--quality-tolerance 0.06 is not allowed; allowed: a number in [0, 0.05]; with more, methods of different "
       "quality would match"},
      {[](Options& o) { o.quality_tolerance = -0.01; },
       "--quality-tolerance -0.01 is not allowed; allowed: a number in [0, 0.05]; with more, methods of different "
       "quality would match"},
      {[](Options& o) { o.density_tolerance = -1; }, "--density-tolerance -1 is not allowed; allowed: 0 to 1000000"},
      {[](Options& o) { o.seeds = 0; }, "--seeds 0 is not allowed; allowed: at least 1"},
      {[](Options& o) { o.accumulate = 0; },
       "--accumulate 0 is not allowed; allowed: a divisor of --steps (40) and --block (20)"},
      {[](Options& o) { o.accumulate = 8; },
       "--accumulate 8 is not allowed; allowed: a divisor of --steps (40) and --block (20)"},
      {[](Options& o) { o.accumulate = 40, o.block = 20; },
       "--accumulate 40 is not allowed; allowed: a divisor of --steps (40) and --block (20)"},
      {[](Options& o) { o.seed = 999'999'998, o.seeds = 3; },
       "--seed 999999998 with --seeds 3 is not allowed: the seeds from 1000000000 on are those of gradcomp-tune"},
      {[](Options& o) { o.checkpoint_every = -1; }, "--checkpoint-every -1 is not allowed; allowed: 0 or more steps"},
      {[](Options& o) { o.checkpoint_every = 5; }, "--checkpoint-every needs --checkpoint"},
      {[](Options& o) { o.dump_folder = "d", o.dump_steps = {1}, o.seeds = 2; },
       "--seeds 2 is not allowed with --dump-gradients; allowed: 1"},
      {[](Options& o) { o.importance_folder = "d", o.dump_steps = {1}, o.seeds = 2; },
       "--seeds 2 is not allowed with --dump-importance; allowed: 1"},
      {[](Options& o) { o.batch_folder = "d", o.seeds = 2; },
       "--seeds 2 is not allowed with --dump-batches; allowed: 1"},
      {[](Options& o) { o.batch_folder = "d", o.resume_folder = "c"; },
       "--resume is not allowed with --dump-batches, which needs all steps"},
      {[](Options& o) { o.dump_folder = "d"; },
       "--dump-gradients or --dump-importance needs --at, and --at needs one of them"},
      {[](Options& o) { o.dump_steps = {1}; },
       "--dump-gradients or --dump-importance needs --at, and --at needs one of them"},
      {[](Options& o) { o.dump_folder = "d", o.dump_steps = {0, 40}; },
       "--at 40 is not allowed; allowed: 0 to 39, the last of --steps 40"},
      {[](Options& o) { o.dump_folder = "d", o.dump_steps = {-1}; },
       "--at -1 is not allowed; allowed: 0 to 39, the last of --steps 40"},
  };
  for (const auto& [change, message] : cases) EXPECT_EQ(refused(change), message);
}

TEST(TrainOptions, TakeWhatIsAtTheEdge) {
  const std::vector<Change> cases = {
      [](Options&) {},
      [](Options& o) { o.steps = o.batch = o.block = o.seeds = 1; },
      [](Options& o) { o.momentum = o.beta1 = o.beta2 = 0; },
      [](Options& o) { o.nesterov = "on"; },
      [](Options& o) { o.warmup = 40; },
      [](Options& o) { o.quality_tolerance = 0.05; },
      [](Options& o) { o.quality_tolerance = 0; },
      [](Options& o) { o.accumulate = 20; },
      [](Options& o) { o.seed = 999'999'997, o.seeds = 3; },
      [](Options& o) { o.checkpoint_folder = "c", o.checkpoint_every = 5; },
      [](Options& o) { o.dump_folder = "d", o.dump_steps = {0, 39}; },
      [](Options& o) { o.importance_folder = "d", o.dump_steps = {0}; },
      [](Options& o) { o.batch_folder = "d"; },
  };
  for (std::size_t i = 0; i < cases.size(); ++i) EXPECT_EQ(refused(cases[i]), "") << i;
}

TEST(TrainOptions, ATrialIsAShortJobWithoutWhatResultsNeed) {
  Options o;
  o.steps = 400;
  o.target = "accuracy=0.9";
  o.replay_slices = "r";
  o.dump_folder = o.importance_folder = o.batch_folder = "d";
  o.dump_steps = {1};
  const Options trial = o.trial(7, 30);
  EXPECT_TRUE(trial.is_trial);
  EXPECT_EQ(trial.seed, 7U);
  EXPECT_EQ(trial.steps, 30);
  EXPECT_EQ(trial.evaluate_every, 30);
  EXPECT_TRUE(trial.target.empty() && trial.replay_slices.empty() && trial.dump_folder.empty() &&
              trial.importance_folder.empty() && trial.dump_steps.empty() && trial.batch_folder.empty());
}

TEST(TrainOptions, TheControlsThatAreMissingComeFirst) {
  Options o;
  o.methods = "sign,fp16,fp32:reducer=ring";
  EXPECT_EQ(o.method_list(), "fp32,bf16,no_exchange,sign,fp16,fp32:reducer=ring");
  o.controls = false;
  EXPECT_EQ(o.method_list(), "sign,fp16,fp32:reducer=ring");
  o.steps = 41;
  EXPECT_EQ(o.evaluation_interval(), 11) << "four evaluations, the last one at the end";
  o.evaluate_every = 3;
  EXPECT_EQ(o.evaluation_interval(), 3);
}

TEST(TrainOptions, StrategiesGetBytesSeedsAndLimits) {
  Options o;
  o.bucket_kib = 3;
  o.seed = 9;
  o.timeout = 2.5;
  o.clip = 0.25;
  o.nesterov = "powersgd";
  const StrategyOptions s = o.strategy_options();
  EXPECT_EQ(s.strategy, "overlapped");
  EXPECT_EQ(s.exchange.bucket_bytes, 3072);
  EXPECT_EQ(s.exchange.seed, 9U);
  EXPECT_EQ(s.exchange.limit_seconds, 2.5);
  EXPECT_EQ(s.update.clip, 0.25);
  EXPECT_EQ(s.update.optimiser.momentum, 0.9);
  EXPECT_EQ(s.update.optimiser.weight_decay, 5e-4);
  EXPECT_FALSE(s.keep_gradient);
  o.dump_folder = "d";
  EXPECT_TRUE(o.strategy_options().keep_gradient);
}

TEST(TrainOptions, AsResultFilesHaveThem) {
  Options o;
  o.methods = "sign";
  o.steps = 41;
  EXPECT_EQ(to_json(o), report::Json::parse(R"({
    "data": "shapetex10", "length": 0, "model": "resnet20", "methods": "fp32,fp16,bf16,no_exchange,sign", "steps": 41,
    "batch": 64, "lr": 0.05, "optimiser": "sgd", "momentum": 0.9, "nesterov": false, "beta1": 0.9, "beta2": 0.999,
    "epsilon": 1e-8, "weight_decay": 5e-4, "decay": "cosine", "warmup": 0, "clip": 0.0, "augment": false, "skew": 0.0,
    "seed": 1, "seeds": 1, "strategy": "overlapped", "sampler": "uniform", "replayed_slices": false,
    "bucket_kib": "auto", "evaluate_every": 11, "block": 20, "quality_tolerance": 0.02, "target": "", "accumulate": 1,
    "tuned": false, "resumed": false, "density_tolerance": 0.0, "dump_steps": [],
    "dump_batches": false, "transport": "mpi", "link": "", "straggler": ""})"));
  o.nesterov = "on";
  o.bucket_kib = 1;
  o.rates = o.resume_folder = o.replay_slices = "x";
  const report::Json json = to_json(o);
  EXPECT_EQ(json["nesterov"], true);
  EXPECT_EQ(json["bucket_kib"], 1);
  EXPECT_TRUE(json["tuned"] == true && json["resumed"] == true && json["replayed_slices"] == true);
  o.nesterov = "powersgd";
  EXPECT_EQ(to_json(o)["nesterov"], "powersgd");
}

TEST(TrainOptions, ThatNoRecordHasKeepTheirDefaults) {
  const Options o;
  EXPECT_TRUE(o.controls);
  EXPECT_FALSE(o.is_trial);
  EXPECT_EQ(o.methods, "top_k:ratio=0.01,powersgd:rank=2");
  EXPECT_EQ(o.steps, 600);
  EXPECT_EQ(o.checkpoint_every, 0);
  EXPECT_EQ(o.timeout, 0);
  for (const std::string* folder : {&o.rates, &o.checkpoint_folder, &o.resume_folder, &o.dump_folder,
                                    &o.importance_folder, &o.batch_folder, &o.replay_slices, &o.output}) {
    EXPECT_EQ(*folder, "");
  }
}

TEST(TrainOptions, AShardIsThePartOfOneRank) {
  Options o;
  o.batch = 8;
  o.seed = 5;
  o.augment = true;
  o.skew = 0.5;
  const data::Shard shard = o.shard(2, 3);
  EXPECT_EQ(shard.batch, 8);
  EXPECT_EQ(shard.rank, 2);
  EXPECT_EQ(shard.ranks, 3);
  EXPECT_EQ(shard.seed, 5U);
  EXPECT_TRUE(shard.augment);
  EXPECT_EQ(shard.skew, 0.5);
}

}  // namespace options_test
}  // namespace gradcomp::train
