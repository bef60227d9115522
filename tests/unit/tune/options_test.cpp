#include "gradcomp/tune/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "error_of.hpp"

namespace gradcomp::tune {
namespace options_test {

std::string refused(const std::function<void(Options&)>& change) {
  Options options;
  options.train.rates = "r";
  change(options);
  return gradcomp::test::error_of([&] { options.check(); });
}

TEST(TuneOptions, SayWhatIsRefusedAndWhatIsAllowed) {
  EXPECT_EQ(refused([](Options& o) { o.train.rates.clear(); }),
            "--rates is missing; allowed: the file that gets the learning rates and bucket sizes");
  EXPECT_EQ(refused([](Options& o) { o.trials = 2; }), "--tune-trials 2 is not allowed; allowed: at least 3");
  EXPECT_EQ(refused([](Options& o) { o.seeds = 1; }), "--tune-seeds 1 is not allowed; allowed: at least 2");
  EXPECT_EQ(refused([](Options& o) { o.steps = 0; }),
            "--tune-steps 0 is not allowed; allowed: at least 1, and a multiple of --accumulate (1)");
  EXPECT_EQ(refused([](Options& o) { o.train.accumulate = 20, o.steps = 30; }),
            "--tune-steps 30 is not allowed; allowed: at least 1, and a multiple of --accumulate (20)");
  EXPECT_EQ(refused([](Options& o) { o.buckets_only = true, o.train.controls = false; }),
            "--buckets-only is not allowed with --no-controls");
  EXPECT_EQ(refused([](Options& o) { o.train.batch = 0; }),
            "--batch 0 is not allowed; allowed: at least 1 sample per rank");
}

TEST(TuneOptions, TakeWhatIsAtTheEdge) {
  EXPECT_EQ(refused([](Options& o) { o.trials = 3, o.seeds = 2, o.steps = 1; }), "");
  EXPECT_EQ(refused([](Options& o) { o.train.accumulate = 20, o.steps = 40; }), "");
  EXPECT_EQ(refused([](Options& o) { o.buckets_only = true; }), "");
}

TEST(TuneOptions, TheSeedsOfTrialsAreFarFromThoseOfResults) {
  Options o;
  o.seeds = 3;
  EXPECT_THAT(o.trial_seeds(), testing::ElementsAre(1'000'000'000, 1'000'000'001, 1'000'000'002));
}

TEST(TuneOptions, KeepTheirDefaults) {
  const Options o;
  EXPECT_EQ(o.steps, 200);
  EXPECT_EQ(o.trials, 6);
  EXPECT_EQ(o.seeds, 3);
  EXPECT_FALSE(o.buckets_only);
}

}  // namespace options_test
}  // namespace gradcomp::tune
