// Trainers with a model in trouble: replicas that differ (diverged_test.cpp has values that are not finite).
#include "training/watched_model.hpp"

namespace gradcomp::train::test {
namespace trouble_test {

TEST(Trouble, ReplicasThatDifferAreSeenAtTheFirstEvaluationAndForGood) {
  Rig rig;
  if (rig.control->size() == 1) GTEST_SKIP() << "needs two ranks";
  rig.options.steps = rig.options.block = rig.options.evaluate_every = 2;
  const int rank = rig.control->rank();
  watch(rig).on_initialise = [=](const HostSpan<float>& parameters) {
    if (rank == 1) parameters(7) += 1e-6F;
  };
  for (const std::string method : {"fp32", "top_k", "fp32:strategy=synchronous"}) {
    EXPECT_FALSE(rig.run(method)[0].replicas_equal) << method;
  }
  EXPECT_TRUE(rig.run("no_exchange")[0].replicas_equal) << "replicas of the bound are not compared";
}

}  // namespace trouble_test
}  // namespace gradcomp::train::test
