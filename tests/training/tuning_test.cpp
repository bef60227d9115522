// Learning rates and bucket sizes are found under the conditions of the job, without the test set and the seeds of
// results.
#include "gradcomp/tune/tuning.hpp"

#include "error_of.hpp"
#include "gradcomp/tune/bucket_sweep.hpp"
#include "training/rig.hpp"
#include "training/watched_task.hpp"

namespace gradcomp::tune {
namespace tuning_test {

using train::Metric;
using train::test::Rig;
using train::test::WatchedTask;

Options three_trials(const Rig& rig) { return {rig.options, 2, 3}; }

TEST(Tune, NeverSeesTheTestSetOrASeedOfResults) {
  Rig rig;
  const Options options = three_trials(rig);
  auto owned = std::make_unique<WatchedTask>(std::move(rig.task));
  const WatchedTask& watched = *owned;
  rig.task = std::move(owned);
  Rates rates(Metric(), {}, {2, 2, 3, 3});
  tune(Exec(), options, rig.job(), rig.parse("fp32"), rates, [] {});
  EXPECT_FALSE(watched.passes.contains(data::Split::test));
  EXPECT_EQ(watched.passes.at(data::Split::validation), 9) << "three rates with three seeds";
  EXPECT_THAT(watched.seeds, testing::ElementsAreArray(options.trial_seeds()));
  EXPECT_FALSE(watched.seeds.contains(rig.options.seed));
  rig.options.seed = options.trial_seeds()[0];
  EXPECT_THROW(rig.options.check(), Error);
}

TEST(Tune, ATrialWhoseReplicasDifferHasNoQuality) {
  Rig rig;
  if (rig.control->size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const Options options = three_trials(rig);
  rig.transport = rig.control->split(rig.control->rank(), 0);  // so that each rank exchanges with itself
  Rates rates(Metric(), {}, {2, 2, 3, 3});
  const auto contenders = rig.parse("fp32");
  tune(Exec(), options, rig.job(), contenders, rates, [] {});
  for (const Trial& trial : rates.trials(contenders[0].spec.canonical)) EXPECT_TRUE(std::isnan(trial.quality));
}

TEST(Tune, GivesEveryMethodTheSameTrialsAndGoesOnWhereItStopped) {
  Rig rig;
  const Options options{rig.options, 4, 5};
  const auto contenders = rig.parse("fp16,no_exchange,top_k:lr=0.2,fp32");
  ASSERT_EQ(tried(contenders).size(), 2U) << "fp16 has the rate of fp32, and so has the bound";
  const std::string fp32 = contenders[3].spec.canonical, top_k = contenders[2].spec.canonical;
  Rates rates(Metric(), {}, {4, 2, 5, 3});
  rates.add(fp32, {0.05, 0.123, 4, 5});  // a trial of the interrupted run, which must stay
  int calls = 0;
  tune(Exec(), options, rig.job(), contenders, rates, [&] { ++calls; });
  EXPECT_EQ(calls, 10);
  ASSERT_EQ(rates.trials(fp32).size(), 5U);
  ASSERT_NE(rates.find(fp32, 0.05), nullptr);
  EXPECT_EQ(rates.find(fp32, 0.05)->quality, 0.123);
  ASSERT_EQ(rates.trials(top_k).size(), 5U);
  EXPECT_TRUE(rates.trials(contenders[0].spec.canonical).empty());
  EXPECT_TRUE(rates.trials(contenders[1].spec.canonical).empty());
  EXPECT_GT(rates.trials(top_k)[0].seconds, 0);
  const std::string text = rates.text();
  tune(Exec(), options, rig.job(), contenders, rates, [] {});
  EXPECT_EQ(rates.text(), text);
}

TEST(BucketSweep, TimesEveryControlInEverySizeOnce) {
  Rig rig;
  auto owned = std::make_unique<WatchedTask>(std::move(rig.task));
  const WatchedTask& watched = *owned;
  rig.task = std::move(owned);
  Rates rates(Metric(), {}, {});
  int calls = 0;
  sweep_forms(Exec(), rig.job(), rates, [&] { ++calls; });
  EXPECT_EQ(calls, 6);
  const auto best = rates.best_forms();
  for (const char* control : {"fp32", "fp16", "bf16"}) {
    ASSERT_TRUE(best.contains(control));
    EXPECT_THAT(swept_kib, testing::Contains(best.at(control).bucket_kib));
  }
  sweep_forms(Exec(), rig.job(), rates, [&] { ++calls; });
  EXPECT_EQ(calls, 6) << "all times are known already";
  EXPECT_FALSE(watched.passes.contains(data::Split::test)) << "times need no test set";

  auto contenders = rig.parse("top_k,top_k:label=one,fp32");
  rig.options.steps = rig.options.evaluate_every = 2;
  contenders[0].bucket_kib = 1;  // a bucket for every tensor
  const auto results = train::compare(Exec(), rig.job(), contenders, [](const std::string&) {});
  EXPECT_GT(results[1].header_bytes, 0);
  EXPECT_GT(results[0].header_bytes / results[1].header_bytes, 2) << "more buckets have more headers";
}

TEST(BucketSweep, TakesWholePeriodsOfTheStrategy) {
  for (const char* strategy : {"local:period=4", "accumulate:every=4"}) {
    Rig rig;
    rig.options.strategy = strategy;
    Rates rates(Metric(), {}, {});
    sweep_forms(Exec(), rig.job(), rates, [] {});
    EXPECT_EQ(rates.best_forms().size(), 3U) << strategy;
  }
}

TEST(BucketSweep, GoesOverAllLinksInTurn) {
  Rig rig;
  train::EmulatedLinks links("10Gbit/s,1Gbit/s", 1);
  rig.transport = links.wrap(std::move(rig.transport));
  train::Job job = rig.job();
  job.links = &links;
  Rates rates(Metric(), {}, {});
  std::vector<std::string> last;  // of each method: an emulated link charges rings and allreduces alike
  sweep_forms(Exec(), job, rates, [&] { last.push_back(rig.transport->name()); });
  EXPECT_EQ(rates.best_forms().size(), 3U);
  EXPECT_EQ(last.size(), 3U);
  EXPECT_THAT(last, testing::Each(testing::StartsWith("emulated(1Gbit/s"))) << "the link of the last block";
}

TEST(BucketSweep, EndsWithAnErrorIfAControlDiverges) {
  Rig rig;
  rig.options.learning_rate = 1e38;
  Rates rates(Metric(), {}, {});
  EXPECT_THAT(gradcomp::test::error_of([&] { sweep_forms(Exec(), rig.job(), rates, [] {}); }),
              testing::AllOf(testing::HasSubstr("diverged at step"), testing::HasSubstr("lower --lr")));
}

}  // namespace tuning_test
}  // namespace gradcomp::tune
