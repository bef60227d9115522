// What Options::check refuses, in which words, and what it lets through at the edges.
#include "gradcomp/evaluate/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "error_of.hpp"
#include "gradcomp/core/registry.hpp"
#include "gradcomp/evaluate/method_evaluation.hpp"

namespace gradcomp::evaluate {
namespace options_test {

using gradcomp::test::error_of;
using Change = std::function<void(Options&)>;

/// The message of check() after a change of valid options; empty if they stay valid.
std::string refused(const Change& change) {
  Options options;
  options.data = {"laplace"};
  options.training.steps = 10;
  change(options);
  return error_of([&] { options.check(); });
}

TEST(EvaluateOptions, SayWhatIsRefusedAndWhatIsAllowed) {
  EXPECT_EQ(refused([](Options& o) { o.data.clear(); }),
            "there is nothing to evaluate: give --input, --data or --train");
  EXPECT_EQ(refused([](Options& o) { o.size = 0; }), "--size 0 is not allowed; allowed: at least 1 element");
  EXPECT_EQ(refused([](Options& o) {
              o.data.clear();
              o.training.model = "resnet8";
              o.layout = "resnet8";
            }),
            "--layout resnet8 needs --input or --data: it gives tensors to their gradients");
  EXPECT_EQ(refused([](Options& o) { o.repeats = 0; }), "--repeats 0 is not allowed; allowed: at least 1 draw");
  EXPECT_EQ(refused([](Options& o) { o.residual_steps = -1; }),
            "--residual-steps -1 is not allowed; allowed: 0 or more");
  EXPECT_EQ(refused([](Options& o) { o.timings = 0; }), "--timings 0 is not allowed; allowed: at least 1");
  EXPECT_EQ(refused([](Options& o) { o.trials = 1; }), "--trials 1 is not allowed; allowed: 0, or at least 2");
  EXPECT_EQ(refused([](Options& o) { o.trials = -2; }), "--trials -2 is not allowed; allowed: 0, or at least 2");
  EXPECT_EQ(refused([](Options& o) { o.density_tolerance = -0.5; }),
            "--density-tolerance -0.5 is not allowed; allowed: 0 to 1000000");
  EXPECT_EQ(refused([](Options& o) { o.at = {0}; }), "--at needs --train: it names steps of that training");
  const auto at = [](index_t step) {
    return refused([step](Options& o) {
      o.training.model = "resnet8";
      o.at = {0, step};
    });
  };
  EXPECT_EQ(at(10), "--at 10 is not allowed; allowed: 0 to 9, the last of --steps 10");
  EXPECT_EQ(at(-1), "--at -1 is not allowed; allowed: 0 to 9, the last of --steps 10");
  EXPECT_EQ(at(9), "");
}

TEST(EvaluateOptions, TakeWhatIsAtTheEdge) {
  for (const Change& change :
       {Change([](Options&) {}), Change([](Options& o) { o.size = 1; }), Change([](Options& o) { o.repeats = 1; }),
        Change([](Options& o) { o.timings = 1; }), Change([](Options& o) { o.trials = 2; }),
        Change([](Options& o) { o.layout = "resnet8"; }), Change([](Options& o) { o.density_tolerance = 0.5; }),
        Change([](Options& o) {
          o.data.clear();
          o.input = {"g.npy"};
          o.layout = "resnet8";
        })}) {
    EXPECT_EQ(refused(change), "");
  }
}

TEST(EvaluateOptions, HaveTheDefaultsOfTheHelp) {
  const Options o;
  EXPECT_EQ(o.methods, "all");
  EXPECT_EQ(o.size, 1048576);
  EXPECT_EQ(o.repeats, 1);
  EXPECT_EQ(o.residual_steps, 0);
  EXPECT_EQ(o.timings, 10);
  EXPECT_EQ(o.trials, 0);
  EXPECT_EQ(o.seed, 1U);
  EXPECT_EQ(o.density_tolerance, 0);
  const TrainingOptions t;
  EXPECT_EQ(t.model, "");
  EXPECT_EQ(t.dataset, "shapetex10");
  EXPECT_EQ(t.steps, 400);
  EXPECT_EQ(t.batch, 64);
  EXPECT_EQ(t.seed, 1U);
  EXPECT_EQ(t.learning_rate, 0.05);
  EXPECT_EQ(t.momentum, 0.9);
  EXPECT_EQ(t.weight_decay, 5e-4);
  const MethodEvaluationOptions m;
  EXPECT_FALSE(m.closed || m.keep_bytes);
  EXPECT_EQ(m.timings, 10);
  EXPECT_EQ(m.trials, 0);
  EXPECT_EQ(m.seed, 1U);
}

TEST(EvaluateOptions, AllIsEveryMethodInTheOrderOfTheRegistry) {
  Options options;
  const std::string list = options.method_list();
  EXPECT_THAT(list, testing::StartsWith(all_entries()[0].info.name + "," + all_entries()[1].info.name + ","));
  EXPECT_EQ(static_cast<std::size_t>(std::count(list.begin(), list.end(), ',')) + 1, all_entries().size());
  options.methods = "sign,fp16";
  EXPECT_EQ(options.method_list(), "sign,fp16");
}

}  // namespace options_test
}  // namespace gradcomp::evaluate
