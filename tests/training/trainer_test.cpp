// Targets, accumulation, clipping and tuning.
#include <cmath>
#include <map>
#include <set>

#include "gradcomp/data/open_task.hpp"
#include "gradcomp/nn/make_model.hpp"
#include "gradcomp/train/bucket_sweep.hpp"
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

/// Counts how often each set is read.
class WatchedTask final : public data::Task {
 public:
  explicit WatchedTask(std::unique_ptr<data::Task> inner) : m_inner(std::move(inner)) {}
  const std::string& name() const override { return m_inner->name(); }
  const std::string& crc() const override { return m_inner->crc(); }
  InputShape shape() const override { return m_inner->shape(); }
  data::Trivial trivial() const override { return m_inner->trivial(); }
  index_t steps_per_epoch(const data::Shard& shard) const override { return m_inner->steps_per_epoch(shard); }
  data::Loader::Fill training(const data::Shard& shard) const override {
    seeds.insert(shard.seed);
    return m_inner->training(shard);
  }
  std::vector<index_t> samples(const data::Shard& shard) const override { return m_inner->samples(shard); }
  void fill(const data::Shard& shard, data::Batch& batch) const override { m_inner->fill(shard, batch); }
  index_t sample_bytes() const override { return m_inner->sample_bytes(); }
  bool held_out(data::Split split, const data::Shard& shard, index_t number, data::Batch& batch) const override {
    const bool more = m_inner->held_out(split, shard, number, batch);
    passes[split] += more ? 0 : 1;
    return more;
  }

  mutable std::map<data::Split, int> passes;  ///< complete passes over each set
  mutable std::set<std::uint64_t> seeds;      ///< seeds of training batches

 private:
  std::unique_ptr<data::Task> m_inner;
};

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

TEST(Tune, NeverSeesTheTestSetOrASeedOfResults) {
  Rig rig;
  rig.options.tune = true;
  rig.options.tune_steps = 2;
  rig.options.tune_trials = 3;
  auto owned = std::make_unique<WatchedTask>(std::move(rig.task));
  const WatchedTask& watched = *owned;
  rig.task = std::move(owned);
  Rates rates(Metric(), {}, {2, 2, 3, 2});
  tune(Exec(), rig.job(), rig.parse("fp32"), rates, [] {});
  EXPECT_FALSE(watched.passes.contains(data::Split::test));
  EXPECT_EQ(watched.passes.at(data::Split::validation), 6) << "three rates with two seeds";
  EXPECT_THAT(watched.seeds, testing::ElementsAreArray(rig.options.trial_seeds()));
  EXPECT_FALSE(watched.seeds.contains(rig.options.seed));
  rig.options.seed = rig.options.trial_seeds()[0];
  EXPECT_THROW(rig.options.check(), Error);
}

TEST(Tune, ATrialWhoseReplicasDifferHasNoQuality) {
  Rig rig;
  if (rig.control->size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  rig.options.tune = true;
  rig.options.tune_steps = 2;
  rig.options.tune_trials = 3;
  rig.transport = rig.control->split(rig.control->rank(), 0);  // so that each rank exchanges with itself
  Rates rates(Metric(), {}, {2, 2, 3, 2});
  const auto contenders = rig.parse("fp32");
  tune(Exec(), rig.job(), contenders, rates, [] {});
  for (const Trial& trial : rates.trials(contenders[0].spec.canonical)) EXPECT_TRUE(std::isnan(trial.quality));
}

TEST(Tune, GivesEveryMethodTheSameTrialsAndGoesOnWhereItStopped) {
  Rig rig;
  rig.options.tune = true;
  rig.options.tune_steps = 4;
  rig.options.tune_trials = 5;
  const auto contenders = rig.parse("fp32,no_exchange,top_k:lr=0.2");
  EXPECT_EQ(trial_count(rig.options, contenders), 10);
  const std::string fp32 = contenders[0].spec.canonical, top_k = contenders[2].spec.canonical;
  Rates rates(Metric(), {}, {4, 2, 5, 2});
  rates.add(fp32, {0.05, 0.123, 4, 5});  // a trial of the interrupted run, which must stay
  int calls = 0;
  tune(Exec(), rig.job(), contenders, rates, [&] { ++calls; });
  EXPECT_EQ(calls, 10);
  ASSERT_EQ(rates.trials(fp32).size(), 5U);
  ASSERT_NE(rates.find(fp32, 0.05), nullptr);
  EXPECT_EQ(rates.find(fp32, 0.05)->quality, 0.123);
  ASSERT_EQ(rates.trials(top_k).size(), 5U);
  EXPECT_TRUE(rates.trials(contenders[1].spec.canonical).empty()) << "the bound needs none";
  EXPECT_GT(rates.trials(top_k)[0].seconds, 0);
  const std::string text = rates.text();
  tune(Exec(), rig.job(), contenders, rates, [] {});
  EXPECT_EQ(rates.text(), text);
}

TEST(BucketSweep, TimesEveryControlInEverySizeOnce) {
  Rig rig;
  auto owned = std::make_unique<WatchedTask>(std::move(rig.task));
  const WatchedTask& watched = *owned;
  rig.task = std::move(owned);
  Rates rates(Metric(), {}, {});
  int calls = 0;
  sweep_buckets(Exec(), rig.job(), rates, [&] { ++calls; });
  EXPECT_EQ(calls, 3);
  const auto best = rates.best_buckets();
  for (const char* control : {"fp32", "fp16", "bf16"}) {
    ASSERT_TRUE(best.contains(control));
    EXPECT_THAT(swept_kib, testing::Contains(best.at(control)));
  }
  sweep_buckets(Exec(), rig.job(), rates, [&] { ++calls; });
  EXPECT_EQ(calls, 3) << "all times are known already";
  EXPECT_FALSE(watched.passes.contains(data::Split::test)) << "times need no test set";

  auto contenders = rig.parse("top_k,top_k:label=one,fp32");
  rig.options.steps = rig.options.evaluate_every = 2;
  contenders[0].bucket_kib = 1;  // a bucket for every tensor
  const auto results = compare(Exec(), rig.job(), contenders, [](const std::string&) {});
  EXPECT_GT(results[1].header_bytes, 0);
  EXPECT_GT(results[0].header_bytes / results[1].header_bytes, 2) << "more buckets have more headers";
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

}  // namespace
}  // namespace gradcomp::train::test
