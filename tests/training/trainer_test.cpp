// Targets, accumulation and clipping.
#include <cmath>

#include "gradcomp/data/open_task.hpp"
#include "gradcomp/nn/make_model.hpp"
#include "training/rig.hpp"
#include "training/watched_task.hpp"

namespace gradcomp::train::test {
namespace trainer_test {

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
  rig.options.target = "accuracy=1";
  rig.options.learning_rate = 1e-6;
  for (const auto& r : rig.run("fp32,top_k")) EXPECT_FALSE(r.reached.has_value());
}

TEST(Accumulate, AddsAControlThatExchangesOncePerGroup) {
  Rig rig;
  rig.options.steps = rig.options.block = rig.options.accumulate = rig.options.evaluate_every = 2;
  const auto results = rig.run("fp32");
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[1].contender.spec.label, "fp32:accumulate=2");
  EXPECT_EQ(results[1].payload_bytes, 0.5 * results[0].payload_bytes) << "the mean over the steps";
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

TEST(Trainer, ReadsTheTestSetOnceAtTheEnd) {
  Rig rig;
  auto owned = std::make_unique<WatchedTask>(std::move(rig.task));
  const WatchedTask& watched = *owned;
  rig.task = std::move(owned);
  const auto results = rig.run("fp32,top_k");
  EXPECT_EQ(watched.passes.at(data::Split::test), 2) << "once per method";
  EXPECT_EQ(watched.passes.at(data::Split::validation), 4) << "evaluations of 8 steps, every 4";
  for (const auto& r : results) {
    EXPECT_EQ(r.curve.quality.back(), r.validation_quality);
    EXPECT_EQ(std::round(17 * r.validation_quality), 17 * r.validation_quality);
    EXPECT_NEAR(std::round(21 * r.test_quality), 21 * r.test_quality, 1e-9);
    EXPECT_NE(r.validation_loss, r.test_loss);
  }
}

TEST(EmulatedLinks, TakeTurnsByBlocksAndChangeNothingThatIsLearned) {
  Rig rig;  // 8 steps in blocks of 2
  const auto real = rig.run("fp32");
  EXPECT_THAT(real[0].step_link, testing::Each(0));
  EmulatedLinks links("10Gbit/s,1Gbit/s", 2);
  rig.transport = links.wrap(std::move(rig.transport));
  Job job = rig.job();
  job.links = &links;
  const auto swept = compare(Exec(), job, rig.parse("fp32"), [](const std::string&) {});
  EXPECT_EQ(swept[0].parameters_hash, real[0].parameters_hash);
  EXPECT_THAT(swept[0].step_link, testing::ElementsAre(0, 1, 0, 1)) << "the first step of a block is not timed";
  EXPECT_EQ(swept[0].step_ms_over(1).size(), 2U);
  EXPECT_EQ(swept[0].step_ms_over(1)[0], swept[0].step_ms[1]);
  EXPECT_EQ(links.choose(3), 1);
  EXPECT_EQ(rig.transport->name().substr(0, 18), "emulated(500Mbit/s")
      << "the link is slowed down like the computation";
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

TEST(Trainer, SaysWhatTheJobIs) {
  Rig rig;
  rig.options.target = "accuracy=0.9";
  const auto images = rig.run("top_k:lr=0.25")[0];
  const int ranks = rig.control->size();
  EXPECT_EQ(images.contender.learning_rate, 0.25);
  EXPECT_EQ(images.strategy, "overlapped");
  EXPECT_EQ(images.period, 1);
  EXPECT_EQ(images.metric.name, "accuracy");
  EXPECT_EQ(images.loss_floor, 0);
  EXPECT_EQ(images.target, 0.9);
  EXPECT_EQ(images.ranks, ranks);
  EXPECT_EQ(images.workers, ranks);
  EXPECT_EQ(images.samples_per_step, 4 * ranks);
  EXPECT_EQ(images.dense_bytes, 4 * rig.model->layout().count());
  EXPECT_DOUBLE_EQ(images.rank_gflop, 4e-9 * rig.model->step_flops());
  EXPECT_FALSE(images.stage_ms.contains("importance")) << "batches are uniform";
  EXPECT_GE(images.stage_ms.at("transfer"), 0);
  rig.options.target.clear();
  rig.task = data::open_task("hmm:tokens=2000:test=300:vocabulary=40:states=4", 8);
  rig.model = nn::make_model<float>("lstm_1x96", rig.task->shape(), 4);
  const auto text = rig.run("fp32")[0];
  EXPECT_EQ(text.metric.name, "perplexity");
  EXPECT_EQ(text.target, std::nullopt);
  EXPECT_EQ(text.samples_per_step, 4 * ranks);
  EXPECT_DOUBLE_EQ(text.rank_gflop, 32e-9 * rig.model->step_flops()) << "labels of 8 words";
}

TEST(Trainer, TheRateFollowsTheScheduleOfTheJob) {
  Rig rig;
  rig.options.momentum = rig.options.weight_decay = 0;
  const auto trained = [&] { return rig.run("fp32")[0].parameters_hash; };
  const auto cosine = trained();
  rig.options.decay = "constant";
  const auto constant = trained();
  EXPECT_NE(constant, cosine);
  rig.options.warmup = 4;
  EXPECT_NE(trained(), constant);
  rig.options.decay = "cosine";
  rig.options.warmup = 0;
  EXPECT_EQ(trained(), cosine);
}

TEST(Trainer, ReportsStateBytes) {
  Rig rig;
  rig.options.steps = rig.options.evaluate_every = 2;
  const auto results = rig.run("fp32,top_k");
  EXPECT_EQ(results[0].state_bytes, 0);
  EXPECT_EQ(results[1].state_bytes, 4 * rig.model->layout().count()) << "the residual";
}

}  // namespace trainer_test
}  // namespace gradcomp::train::test
