// Targets, accumulation, clipping and tuning.
#include <cmath>

#include "gradcomp/train/tuning.hpp"
#include "training/rig.hpp"

namespace gradcomp::train::test {
namespace {

TEST(Target, IsReachedAtTheFirstEvaluationThatSawIt) {
  Rig rig;
  rig.options.target = "accuracy=0.01";
  const auto reached = rig.run("fp32,top_k");
  for (const auto& r : reached) {
    ASSERT_GT(r.curve.quality[0], 0.01) << "the test needs another target";
    ASSERT_TRUE(r.reached.has_value());
    EXPECT_EQ(r.reached->steps, 4);
    EXPECT_GT(r.reached->time_s, 0);
    EXPECT_GE(r.reached->wire_bytes, r.curve.wire_bytes[0]);
    EXPECT_LT(r.reached->wire_bytes, r.curve.wire_bytes[1] + (rig.control->size() > 1 ? 0 : 1));
  }
  EXPECT_EQ(judge(reached, 1.0)[0].speedup_to_target, 1.0);

  rig.options.target = "accuracy=1";
  rig.options.learning_rate = 1e-6;
  const auto missed = rig.run("fp32,top_k");
  for (const auto& verdict : judge(missed, 1.0)) {
    EXPECT_TRUE(verdict.quality_matched);
    EXPECT_FALSE(verdict.speedup_vs_fp32 || verdict.speedup_vs_best_dense || verdict.speedup_to_target);
  }
}

TEST(Accumulate, AddsAControlThatExchangesOncePerGroup) {
  Rig rig;
  rig.options.steps = rig.options.block = rig.options.accumulate = rig.options.evaluate_every = 2;
  const auto results = rig.run("fp32");
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[1].contender.spec.label, "fp32:accumulate=2");
  EXPECT_EQ(results[1].payload_bytes, 0.5 * results[0].payload_bytes) << "mean of a step";
  EXPECT_EQ(results[1].step_ms.size(), 1U);
  rig.options.accumulate = 1;
  EXPECT_EQ(results[1].parameters_hash, rig.run("fp32:strategy=accumulate:strategy.every=2")[0].parameters_hash);
}

TEST(Clip, LimitsTheUpdate) {
  Rig rig;
  const auto plain = rig.run("fp32")[0].parameters_hash;
  rig.options.clip = 1e9;
  EXPECT_EQ(rig.run("fp32")[0].parameters_hash, plain);
  rig.options.clip = 0.1;
  const auto clipped = rig.run("fp32")[0];
  EXPECT_NE(clipped.parameters_hash, plain);
  EXPECT_TRUE(clipped.replicas_equal);
}

TEST(Tune, TriesTheGridOnceAndGoesOnWhereItStopped) {
  Rig rig;
  rig.options.tune_steps = 4;
  const auto contenders = rig.parse("fp32,none,top_k:lr=0.2");
  EXPECT_EQ(trial_count(contenders), 8);
  const std::string fp32 = contenders[0].spec.canonical, top_k = contenders[2].spec.canonical;
  Rates rates(Metric(), {}, {4, 2});
  rates.add(fp32, {0.05, 0.123, 4, 5});  // of the interrupted run: must stay as it is
  int calls = 0;
  tune(Exec(), rig.job(), contenders, rates, [&] { ++calls; });
  EXPECT_EQ(calls, 8);
  ASSERT_EQ(rates.trials(fp32).size(), 4U);
  ASSERT_NE(rates.find(fp32, 0.05), nullptr);
  EXPECT_EQ(rates.find(fp32, 0.05)->quality, 0.123);
  ASSERT_EQ(rates.trials(top_k).size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(rates.trials(top_k)[i].rate, 0.2 * rate_factors[i]);
  EXPECT_TRUE(rates.trials(contenders[1].spec.canonical).empty()) << "the bound needs none";
  EXPECT_GT(rates.trials(top_k)[0].seconds, 0);
  const std::string text = rates.text();
  tune(Exec(), rig.job(), contenders, rates, [] {});
  EXPECT_EQ(rates.text(), text);
}

TEST(Trainer, LearnsALanguageTowardsItsFloor) {
  Rig rig;
  rig.options.steps = rig.options.block = 60;
  rig.options.evaluate_every = 20;
  rig.options.learning_rate = 0.5;
  rig.options.clip = 1;
  rig.task = data::open_task("hmm:tokens=20000:test=1000:vocabulary=40:states=4", 8);
  rig.model = nn::make_model<float>("lstm_1x96", rig.task->shape(), 4);
  for (const auto& r : rig.run("fp32,top_k:ratio=0.1")) {
    EXPECT_EQ(r.metric.name, "perplexity");
    EXPECT_NEAR(r.test_quality, std::exp(r.test_loss), 1e-9 * r.test_quality);
    EXPECT_LT(r.test_quality, 35) << "of 40 words";
    EXPECT_GT(r.test_loss, r.loss_floor);
    EXPECT_GT(r.loss_floor, 1);
    EXPECT_TRUE(r.replicas_equal);
  }
}

TEST(Trainer, EvaluationsLeaveTheHiddenStateAlone) {
  Rig rig;
  rig.task = data::open_task("hmm:tokens=2000:test=300:vocabulary=40:states=4", 8);
  rig.model = nn::make_model<float>("lstm_1x96", rig.task->shape(), 4);
  const auto rare = rig.run("fp32")[0].parameters_hash;
  rig.options.evaluate_every = 1;
  EXPECT_EQ(rig.run("fp32")[0].parameters_hash, rare);
}

TEST(Trainer, ReportsStateBytes) {
  Rig rig;
  rig.options.steps = rig.options.evaluate_every = 2;
  const auto results = rig.run("fp32,top_k");
  EXPECT_EQ(results[0].state_bytes, 0);
  EXPECT_EQ(results[1].state_bytes, 4 * rig.model->layout().count()) << "the residual";
}

}  // namespace
}  // namespace gradcomp::train::test
