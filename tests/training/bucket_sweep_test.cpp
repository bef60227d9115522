// Bucket sizes of the controls are timed under the conditions of the job.
#include "gradcomp/train/bucket_sweep.hpp"

#include "error_of.hpp"
#include "training/rig.hpp"

namespace gradcomp::train::test {
namespace {

TEST(BucketSweep, TakesWholePeriodsOfTheStrategy) {
  for (const char* strategy : {"local:period=4", "accumulate:every=4"}) {
    Rig rig;
    rig.options.strategy = strategy;
    Rates rates(Metric(), {}, {});
    sweep_buckets(Exec(), rig.job(), rates, [] {});
    EXPECT_EQ(rates.best_buckets().size(), 3U) << strategy;
  }
}

TEST(BucketSweep, GoesOverAllLinksInTurn) {
  Rig rig;
  EmulatedLinks links("10Gbit/s,1Gbit/s", 1);
  rig.transport = links.wrap(std::move(rig.transport));
  Job job = rig.job();
  job.links = &links;
  Rates rates(Metric(), {}, {});
  std::vector<std::string> last;
  sweep_buckets(Exec(), job, rates, [&] { last.push_back(rig.transport->name()); });
  EXPECT_EQ(rates.best_buckets().size(), 3U);
  EXPECT_THAT(last, testing::Each(testing::StartsWith("emulated(1Gbit/s"))) << "the link of the last block";
}

TEST(BucketSweep, EndsWithAnErrorIfAControlDiverges) {
  Rig rig;
  rig.options.learning_rate = 1e38;
  Rates rates(Metric(), {}, {});
  EXPECT_THAT(gradcomp::test::error_of([&] { sweep_buckets(Exec(), rig.job(), rates, [] {}); }),
              testing::AllOf(testing::HasSubstr("diverged at step"), testing::HasSubstr("lower --lr")));
}

TEST(Trial, RepeatsNoSlices) {
  Options options = small_options();
  options.replay_slices = "file of a run with another seed";
  EXPECT_EQ(options.trial(options.trial_seeds().front(), 4).replay_slices, "");
}

}  // namespace
}  // namespace gradcomp::train::test
