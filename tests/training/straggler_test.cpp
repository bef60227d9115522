// Ranks that are slower than others, and how long the others wait for them.
#include "gradcomp/train/straggler.hpp"

#include "gradcomp/train/exposed.hpp"
#include "training/rig.hpp"

namespace gradcomp::train::test {
namespace straggler_test {

TEST(Straggler, IsSetByRankAndJitter) {
  EXPECT_FALSE(StragglerOptions::parse("").is_set());
  const auto both = StragglerOptions::parse("rank=3,factor=2.5,jitter=0.25");
  EXPECT_EQ(both.rank, 3);
  EXPECT_EQ(both.factor, 2.5);
  EXPECT_EQ(both.jitter, 0.25);
  for (const char* wrong : {"rank=1", "factor=2", "rank=-1,factor=2", "rank=0.5,factor=2", "rank=1,factor=0.5",
                            "jitter=x", "jitter=-1", "speed=2", "rank", "rank=1,factor=nan"}) {
    try {
      StragglerOptions::parse(wrong);
      ADD_FAILURE() << wrong;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::StartsWith(std::string("--straggler ") + wrong + " is not allowed"));
    }
  }
}

TEST(Straggler, HasItsFactorInEveryStep) {
  const StragglerOptions options = StragglerOptions::parse("rank=1,factor=2");
  EXPECT_EQ(Straggler(options, 1, 1).factor(7), 2);
  EXPECT_EQ(Straggler(options, 1, 0).factor(7), 1);
}

TEST(Straggler, JitterIsExponentialAndCounterBased) {
  const StragglerOptions options = StragglerOptions::parse("jitter=0.5");
  const Straggler one(options, 1, 0), again(options, 1, 0), other_rank(options, 1, 1), other_seed(options, 2, 0);
  constexpr int steps = 20000;
  double sum = 0, squares = 0;
  int above_mean = 0;
  for (index_t step = 0; step < steps; ++step) {
    const double more = one.factor(step) - 1;
    EXPECT_EQ(again.factor(step), one.factor(step));
    EXPECT_NE(other_rank.factor(step), one.factor(step));
    EXPECT_NE(other_seed.factor(step), one.factor(step));
    EXPECT_GT(more, 0);
    sum += more;
    squares += more * more;
    above_mean += more > 0.5 ? 1 : 0;
  }
  const double mean = sum / steps;
  EXPECT_NEAR(mean, 0.5, 0.02);  // five standard errors: 5 * 0.5 / sqrt(20000)
  EXPECT_NEAR(std::sqrt(squares / steps - mean * mean), 0.5, 0.03);
  EXPECT_NEAR(static_cast<double>(above_mean) / steps, std::exp(-1.0), 0.02);
}

TEST(Straggler, SleepsForWhatItComputedLonger) {
  Straggler slow(StragglerOptions::parse("rank=0,factor=3"), 1, 0);
  const auto compute = [] {
    const auto end = Clock::now() + std::chrono::milliseconds(20);
    while (Clock::now() < end) {
    }
  };
  slow.begin(0);
  compute();
  const auto before = Clock::now();
  slow.pause(Exec());
  EXPECT_GE(Clock::now() - before, std::chrono::milliseconds(40)) << "twice as long as it had computed";
  StragglerOptions other = StragglerOptions::parse("rank=1,factor=2");
  other.factor = 1e6;  // on rank 1 the pause would take hours
  Straggler quick(other, 1, 0);
  quick.begin(0);
  compute();
  quick.pause(Exec());
}

TEST(Straggler, ThatNoRankIsIsRefused) {
  Rig rig;
  rig.options.straggler = "rank=7,factor=2";
  EXPECT_THROW(rig.run("fp32"), AgreedError);
}

TEST(Straggler, ChangesNoResult) {
  Rig rig;
  const auto plain = rig.run("fp32");
  rig.options.straggler = "rank=0,factor=2,jitter=0.5";
  EXPECT_EQ(rig.run("fp32")[0].parameters_hash, plain[0].parameters_hash);
}

TEST(Exposed, IsTransferOnTheLastRankAndWaitingOnTheOthers) {
  const auto comm = world();
  if (comm->size() != 2) return;
  const bool first = comm->rank() == 0;
  const Exposed split = split_exposed(*comm, first ? std::vector{5.0, 2.0, 0.0} : std::vector{1.0, 3.0, 0.0}, 2);
  EXPECT_EQ(split.transfer, (std::vector{1.0, 2.0, 0.0}));
  EXPECT_EQ(split.waiting, (std::vector{2.0, 0.5, 0.0}));
}

}  // namespace straggler_test
}  // namespace gradcomp::train::test
