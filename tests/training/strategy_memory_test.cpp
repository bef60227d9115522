// A strategy with the memories of another one continues as that one would. So nothing that matters is kept elsewhere.
#include "gradcomp/core/registry.hpp"
#include "training/strategy_rig.hpp"

namespace gradcomp::train::test {
namespace strategy_memory_test {

/// Trains this number of steps, copies all memories to a new strategy, and trains three more steps with both.
void expect_equal_after(index_t steps, const Setting& setting) {
  SCOPED_TRACE(fmt::format("{}, after {} steps", setting.text(), steps));
  const auto comm = world();
  StrategyRig whole(setting, *comm);
  for (index_t step = 0; step < steps; ++step) whole.step(step);
  StrategyRig fresh(setting, *comm);
  fresh.take(whole.everything());
  for (index_t step = steps; step < steps + 3; ++step) {
    const StepReport a = whole.step(step), b = fresh.step(step);
    EXPECT_EQ(differences(whole.everything(), fresh.everything()), std::vector<std::string>()) << "step " << step;
    EXPECT_EQ(a.payload_bytes, b.payload_bytes) << "step " << step;
    EXPECT_EQ(a.density_ratio, b.density_ratio) << "step " << step;
  }
}

/// Copies in the middle of a period of two steps and at its end, because some methods alternate between steps.
void expect_equal_after_hand_over(const Setting& setting) {
  expect_equal_after(3, setting);
  expect_equal_after(4, setting);
}

/// P and Q have different sizes. By the parity of steps, an even period would always send the same one.
TEST(StrategyMemories, AlternateFromExchangeToExchange) {
  const auto comm = world();
  for (const char* strategy : {"overlapped", "accumulate:every=2", "local:period=2", "local:period=4"}) {
    StrategyRig rig({"powersgd:rank=1:variant=one_sided", strategy}, *comm);
    std::vector<index_t> payloads;
    for (index_t step = 0; payloads.size() < 3; ++step) {
      if (const index_t bytes = rig.step(step).payload_bytes; bytes > 0) payloads.push_back(bytes);
    }
    EXPECT_NE(payloads[0], payloads[1]) << strategy;
    EXPECT_EQ(payloads[0], payloads[2]) << strategy;
  }
}

TEST(StrategyMemories, AreAllThatTheNextStepDependsOn) {
  for (const char* method :
       {"fp32", "top_k:ratio=0.05", "top_k:ratio=0.05:feedback=ef21", "top_k:ratio=0.05:feedback=ef21:feedback.eta=0.5",
        "dgc:ratio=0.05", "powersgd:rank=2", "powersgd:rank=2:variant=one_sided", "signum", "ef_sign:reducer=two_phase",
        "top_k:ratio=0.05:reducer=ok_topk:reducer.interval=4", "top_k:ratio=0.05:feedback.rate_aware=on",
        "ef_sign:variant=paper:reducer=two_phase"}) {
    for (const char* strategy : strategies) {
      for (const char* optimiser : {"sgd", "adamw"}) {
        if (optimiser == std::string("adamw") && brings_momentum(method)) continue;
        expect_equal_after_hand_over({method, strategy, optimiser});
      }
    }
  }
}

TEST(StrategyMemories, OfEveryMethod) {
  for (const Entry& entry : all_entries()) expect_equal_after_hand_over({entry.info.name, "overlapped", "sgd"});
}

TEST(StrategyMemories, OfVariantsThatRememberMore) {
  for (const char* method :
       {"sidco:ratio=0.01:interval=4", "redsync:variant=paper:search=binary:interval=4", "powersgd:variant=cold",
        "adaptive_threshold:feedback=ef21", "powersgd:rank=2:start_step=4", "top_k:ratio=0.02+qsgd:bits=4",
        "top_k:ratio=0.05:warmup=quarters:warmup.steps=5", "dgc:ratio=0.05:feedback.rate_aware=on",
        "powersgd:variant=one_sided:matrix=authors"}) {
    expect_equal_after_hand_over({method, "overlapped", "sgd"});
  }
}

// Each rank has its own running statistics of batch norms until an exchange replaces them by their mean.
TEST(Local, AveragesTheModelsStatisticsAtItsExchanges) {
  const auto comm = world();
  const auto own = gradient_values(5, comm->rank(), 98);
  const auto sum = gradcomp::test::sum_over_all(*comm, own);
  for (const char* strategy : {"local:period=2", "overlapped"}) {
    StrategyRig rig({"top_k:ratio=0.05", strategy}, *comm);
    rig.step(0);
    EXPECT_EQ(rig.buffers(), own) << strategy;
    rig.step(1);
    for (std::size_t i = 0; i < own.size(); ++i) {
      const double expected = strategy == std::string("overlapped") ? own[i] : sum[i] / comm->size();
      EXPECT_NEAR(rig.buffers()[i], expected, 1e-7) << strategy;
    }
  }
}

}  // namespace strategy_memory_test
}  // namespace gradcomp::train::test
