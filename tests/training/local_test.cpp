// Local steps: the periods of AdaComm, and the control with an outer optimiser that exchanges every step.
#include "gradcomp/strategy/detail/adaptive_period.hpp"
#include "training/rig.hpp"
#include "training/strategy_rig.hpp"

namespace gradcomp::train::test {
namespace local_test {

TEST(AdaptivePeriod, FallsWithTheRootOfTheLoss) {
  EXPECT_EQ(next_period(16, 16, 0.25, 1), 8);   // the root of a quarter is a half
  EXPECT_EQ(next_period(16, 16, 0.3, 1.2), 8);  // the ratio counts
  EXPECT_EQ(next_period(16, 16, 0.26, 1), 9);   // rounded up: 8.16
  EXPECT_EQ(next_period(8, 16, 0.5, 1), 4) << "12 is not below 8, so the period is halved";
  EXPECT_EQ(next_period(9, 16, 4, 1), 5) << "half, rounded up";
  EXPECT_EQ(next_period(2, 16, 1, 1), 1);
  EXPECT_EQ(next_period(1, 16, 1, 1), 1);
  EXPECT_EQ(next_period(16, 16, 0, 1), 1);
  EXPECT_EQ(next_period(16, 16, std::nan(""), 1), 8);
  EXPECT_EQ(next_period(16, 16, 0.0625, 1, 4), 8) << "a quarter of the rate gives twice the period: sqrt(1/16 * 4)";
}

TEST(AdaptivePeriod, NeverGrows) {
  AdaptivePeriod schedule(32, 2, true);
  index_t before = 32;
  for (const double loss : {3.0, 2.5, 2.6, 2.0, 9.0, 0.5, 0.4}) {
    schedule.add(loss);
    EXPECT_FALSE(schedule.is_due());
    schedule.add(std::nan(""));
    EXPECT_TRUE(schedule.is_due());
    EXPECT_EQ(schedule.counted(), 1);
    schedule.renew(schedule.loss(), 0.1);
    EXPECT_LE(schedule.period(), before);
    before = schedule.period();
  }
  EXPECT_LT(before, 8);
  AdaptivePeriod fixed(32, 0, false);
  for (int i = 0; i < 100; ++i) fixed.add(1);
  EXPECT_FALSE(fixed.is_due());
}

/// Makes steps of a strategy with known losses. Returns in which of them something was sent.
std::vector<index_t> exchanges(const std::string& strategy, index_t steps) {
  const auto comm = world();
  StrategyRig rig({"fp32", strategy}, *comm);
  std::vector<index_t> sent;
  for (index_t step = 0; step < steps; ++step) {
    if (rig.step(step).payload_bytes > 0) sent.push_back(step + 1);
    rig.observe(step < 4 ? 1.0 : 0.25);
  }
  EXPECT_TRUE(gradcomp::test::same_bits(*comm, rig.agreed()));
  return sent;
}

TEST(Local, ExchangesMoreOftenAsTheLossFalls) {
  EXPECT_EQ(exchanges("local:period=4", 12), (std::vector<index_t>{4, 8, 12}));
  // At step 8 the mean loss, (4 * 1 + 3 * 0.25) / 7, becomes the first loss. At step 12 the loss is 0.25, and
  // sqrt(0.25 / 0.679) * 4 = 2.43 gives a period of 3. At steps 16 and 20 the loss has not fallen, and the period is
  // halved. Multiples of 4 are exchanges in any case.
  EXPECT_EQ(exchanges("local:period=4:adaptive=loss:adapt_every=4", 24),
            (std::vector<index_t>{4, 8, 12, 15, 16, 18, 20, 21, 22, 23, 24}));
}

TEST(Local, GoesOnFromTheMemoriesOfAnAdaptivePeriod) {
  const auto comm = world();
  for (const char* strategy :
       {"local:period=4:adaptive=loss:adapt_every=4", "local:period=2:inner=mean:outer_momentum=0.5"}) {
    const Setting setting{"top_k:ratio=0.05", strategy};
    StrategyRig whole(setting, *comm), fresh(setting, *comm);
    const auto step = [](StrategyRig& rig, index_t number) {
      rig.step(number);
      rig.observe(1.0 / static_cast<double>(1 + number));
    };
    for (index_t number = 0; number < 9; ++number) step(whole, number);
    fresh.take(whole.everything());
    for (index_t number = 9; number < 16; ++number) {
      step(whole, number);
      step(fresh, number);
      EXPECT_EQ(differences(whole.everything(), fresh.everything()), std::vector<std::string>()) << strategy << number;
    }
  }
}

TEST(Local, CountsTheBytesOfTheBuffersThatItAverages) {
  const auto comm = world();
  StrategyRig plain({"fp32", "overlapped"}, *comm), local({"fp32", "local:period=2"}, *comm);
  EXPECT_EQ(local.step(0).wire_bytes, 0);
  plain.step(0);
  const index_t gradient = plain.step(1).wire_bytes, with_buffers = local.step(1).wire_bytes;
  EXPECT_EQ(with_buffers > gradient, comm->size() > 1) << with_buffers << " bytes, " << gradient << " of a gradient";
}

TEST(Local, OfOneStepIsTheOverlappedStrategy) {
  const auto comm = world();
  for (const char* method : {"fp32", "top_k:ratio=0.05", "qsgd:bits=4:feedback=residual", "powersgd:rank=2"}) {
    StrategyRig plain({method, "overlapped"}, *comm), local({method, "local:period=1"}, *comm);
    for (index_t step = 0; step < 4; ++step) {
      plain.step(step);
      local.step(step);
    }
    EXPECT_EQ(local.parameters(), plain.parameters()) << method;
  }
}

/// These gradients do not depend on the parameters, and plain SGD is linear. So after any number of local steps, the
/// mean of the replicas is the result of training with the mean gradient of every step.
TEST(Local, TakesTheMeanOfWhatEachRankDidAlone) {
  const auto comm = world();
  for (const char* strategy : {"local:period=2", "local:period=4"}) {
    Setting every{"fp32", "synchronous"}, own{"fp32", strategy};
    every.momentum = own.momentum = 0.5;  // linear as well
    every.weight_decay = own.weight_decay = 0;
    every.clip = own.clip = 0;
    StrategyRig plain(every, *comm), local(own, *comm);
    for (index_t step = 0; step < 4; ++step) {
      plain.step(step);
      local.step(step);
    }
    const auto expected = plain.parameters(), found = local.agreed();
    EXPECT_TRUE(gradcomp::test::same_bits(*comm, found)) << strategy;
    for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 2e-6) << strategy << " " << i;
  }
}

// With an outer optimiser that only adds the change, the result is that of the overlapped strategy.
TEST(Local, WithTheMeanOfEveryStepIsOverlappedWithAnOuterStep) {
  const auto comm = world();
  StrategyRig plain({"fp32", "overlapped"}, *comm), outer({"fp32", "local:inner=mean:period=2"}, *comm),
      momentum({"fp32", "local:inner=mean:period=2:outer_momentum=0.9"}, *comm);
  for (index_t step = 0; step < 4; ++step) {
    plain.step(step);
    EXPECT_GT(outer.step(step).payload_bytes, 0) << "every step is exchanged";
    momentum.step(step);
  }
  const auto expected = plain.parameters(), found = outer.parameters();
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-6) << i;
  EXPECT_NE(momentum.parameters(), found);
  EXPECT_TRUE(gradcomp::test::same_bits(*comm, momentum.parameters()));
}

}  // namespace local_test
}  // namespace gradcomp::train::test
