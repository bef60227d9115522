// Trainers with a model in trouble: a gradient that is not finite, or replicas that differ.
#include <limits>

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

/// On the last rank, the gradient of backward number `at` has a NaN in its middle.
void spoil(Rig& rig, index_t at) {
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
