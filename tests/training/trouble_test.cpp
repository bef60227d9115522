// Trainers with a model in trouble: a gradient that is not finite, or replicas that differ.
#include <limits>

#include "gradcomp/comm/throttled.hpp"
#include "gradcomp/data/open_task.hpp"
#include "training/watched_model.hpp"

namespace gradcomp::train::test {
namespace {

const char* const methods =
    "fp32,top_k:ratio=0.05,dgc:ratio=0.05,signum,top_k:ratio=0.05:feedback=ef21,fp32:strategy=synchronous";

/// Steps with a constant rate, so that a run of fewer steps is the beginning of a longer one.
void shorten(Rig& rig, index_t steps) {
  rig.options.steps = rig.options.block = rig.options.evaluate_every = steps;
  rig.options.decay = "constant";
}

/// Replaces the rig's model by one that has on the last rank, in the gradient of backward number `at`, a NaN in the
/// middle. Returns the model.
WatchedModel& spoil(Rig& rig, index_t at) {
  WatchedModel& model = watch(rig);
  const std::size_t middle = model.layout().segments.size() / 2;
  const bool last_rank = rig.control->rank() == rig.control->size() - 1;
  auto count = std::make_shared<index_t>(0);
  auto done = std::make_shared<bool>(false);
  model.on_ready = [=, &model](std::size_t first, const Span<float>& gradient) {
    if (*count != at || *done || first > middle || !last_rank) return;
    *done = true;
    const auto i = static_cast<std::size_t>(model.layout().segments[middle].offset);
    Kokkos::deep_copy(Kokkos::subview(gradient, i), std::numeric_limits<float>::quiet_NaN());
  };
  model.on_backward_end = [=] { ++*count; };
  return model;
}

TEST(Trouble, AStepThatIsNotFiniteIsLeftOutAndCountedOnce) {
  for (const MethodSpec& method : parse_methods(methods)) {
    for (const index_t steps : {0, 2}) {  // number of steps before the spoilt one
      Rig whole, spoilt;
      shorten(whole, std::max<index_t>(steps, 1));
      const MethodResult expected = whole.run(method.text)[0];
      shorten(spoilt, steps + 1);
      spoil(spoilt, steps);
      const MethodResult result = spoilt.run(method.text)[0];
      EXPECT_EQ(result.skipped_steps, 1) << method.text;
      EXPECT_EQ(expected.skipped_steps, 0) << method.text;
      EXPECT_TRUE(result.replicas_equal) << method.text;
      EXPECT_EQ(result.parameters_hash == expected.parameters_hash, steps > 0) << method.text;
      EXPECT_EQ(result.test_loss == expected.test_loss, steps > 0) << method.text << ": batch-norm statistics too";
    }
  }
}

/// A job whose model passes a hidden state from batch to batch. Step 2 of `steps` is not finite.
struct LanguageRig : Rig {
  explicit LanguageRig(index_t steps) {
    task = data::open_task("hmm:tokens=2000:test=300:vocabulary=40:states=4", 8);
    model = nn::make_model<float>("lstm_1x96", task->shape(), 4);
    shorten(*this, steps);
    spoil(*this, 2).on_forward = [this](const Span<const float>& buffers) {
      states.push_back(gradcomp::test::to_host(buffers));
    };
  }

  std::vector<std::vector<float>> states;  ///< before each step
};

TEST(Trouble, AStepThatIsNotFiniteLeavesTheHiddenStateAsItWas) {
  for (const char* method : {"fp32", "top_k:ratio=0.05", "fp32:strategy=synchronous", "fp32:strategy=priority"}) {
    LanguageRig rig(4);
    rig.options.evaluate_every = 1;  // so that no strategy reports the step later than before the next one
    const MethodResult result = rig.run(method)[0];
    EXPECT_EQ(result.skipped_steps, 1) << method;
    EXPECT_TRUE(result.replicas_equal) << method;
    EXPECT_EQ(rig.states.size(), 4U) << method;
    EXPECT_TRUE(rig.states.at(2) != rig.states.at(1)) << method << ": a step passes another state on";
    EXPECT_TRUE(rig.states.at(3) == rig.states.at(2)) << method;
  }
}

/// Over a slow link, priority learns of the step only in the next one.
TEST(Trouble, AStepThatIsReportedLateTakesTheHiddenStateBackToBeforeIt) {
  LanguageRig rig(5);
  rig.transport = make_throttled(std::move(rig.transport), parse_link("100Mbit/s,1ms"));
  const MethodResult result = rig.run("fp32:strategy=priority")[0];
  EXPECT_EQ(result.skipped_steps, 1);
  EXPECT_TRUE(result.replicas_equal);
  EXPECT_EQ(rig.states.size(), 5U);
  EXPECT_TRUE(rig.states.at(3) == rig.states.at(2) || rig.states.at(4) == rig.states.at(2))
      << "a fast machine may have reported it at once";
}

TEST(Trouble, TheStepsOfOneRankAreInEveryRanksResult) {
  Rig rig;
  shorten(rig, 4);
  spoil(rig, 2);
  const MethodResult result = rig.run("fp32:strategy=local:strategy.period=4")[0];
  EXPECT_EQ(result.skipped_steps, 1) << "rank " << rig.control->rank();
  EXPECT_TRUE(result.replicas_equal);
}

TEST(Trouble, ReplicasThatDifferAreSeenAtTheFirstEvaluationAndForGood) {
  Rig rig;
  if (rig.control->size() == 1) GTEST_SKIP() << "needs two ranks";
  shorten(rig, 2);
  const int rank = rig.control->rank();
  watch(rig).on_initialise = [=](const HostSpan<float>& parameters) {
    if (rank == 1) parameters(7) += 1e-6F;
  };
  for (const std::string method : {"fp32", "top_k", "fp32:strategy=synchronous"}) {
    EXPECT_FALSE(rig.run(method)[0].replicas_equal) << method;
  }
  EXPECT_TRUE(rig.run("no_exchange")[0].replicas_equal) << "replicas of the bound are not compared";
}

}  // namespace
}  // namespace gradcomp::train::test
