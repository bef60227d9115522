// If a gradient is not finite on one rank, then on all ranks the parameters, the moments and everything that ranks
// agree on stay as they were, bit for bit. Residuals add the finite elements of the step, because these were not sent.
#include "training/strategy_rig.hpp"

namespace gradcomp::train::test {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();

std::optional<float> spoilt_on_last_rank(Transport& comm, float value) {
  return comm.rank() == comm.size() - 1 ? std::optional<float>(value) : std::nullopt;
}

/// Everything except what skipped steps also change with their finite elements: residuals, and what methods keep for
/// each bucket (PowerSGD's factors, signum's momentum).
Bytes settled(Bytes all) {
  std::erase_if(all, [](const auto& entry) {
    const std::string& path = entry.first;
    if (!path.starts_with("bucket")) return false;
    for (const char* kept : {"/ef21_sent", "/ef21_estimate", "/owner_residual"}) {
      if (path.ends_with(kept)) return false;
    }
    return true;
  });
  return all;
}

/// Makes a group of steps that give one update, one of them spoilt. The whole group must be skipped.
void expect_group_left_out(const Setting& setting, float value) {
  SCOPED_TRACE(setting.text());
  const auto comm = world();
  StrategyRig rig(setting, *comm);
  const index_t period = rig.period();
  for (index_t step = 0; step < 2 * period; ++step) EXPECT_FALSE(rig.step(step).skipped());
  const Bytes before = settled(rig.everything());
  int skipped = 0;
  for (index_t step = 2 * period; step < 3 * period; ++step) {
    const auto spoilt = step == 2 * period ? spoilt_on_last_rank(*comm, value) : std::nullopt;
    skipped += rig.step(step, spoilt).skipped() ? 1 : 0;
  }
  EXPECT_EQ(skipped, 1);
  EXPECT_EQ(differences(before, settled(rig.everything())), std::vector<std::string>());
  for (index_t step = 3 * period; step < 4 * period; ++step) EXPECT_FALSE(rig.step(step).skipped());
  EXPECT_THAT(differences(before, settled(rig.everything())), testing::Contains("parameters"))
      << "training must continue";
  EXPECT_TRUE(gradcomp::test::same_bits(*comm, rig.parameters()));
}

TEST(NonFinite, LeavesParametersMomentsAndMemoriesAsTheyWere) {
  for (const char* method : {"fp32", "fp16", "top_k:ratio=0.05", "top_k:ratio=0.05:feedback=ef21:feedback.eta=0.5",
                             "dgc:ratio=0.05", "powersgd:rank=2", "powersgd:rank=2:variant=one_sided", "signum",
                             "qsgd:feedback=residual", "ef_sign:reducer=two_phase", "top_k:ratio=0.05:reducer=ok_topk",
                             "top_k:ratio=0.05:reducer=gtop_k", "top_k:ratio=0.05:feedback.rate_aware=on"}) {
    for (const char* strategy : {"overlapped", "synchronous", "accumulate:every=2", "local:period=1"}) {
      for (const char* optimiser : {"sgd", "adamw"}) {
        if (optimiser == std::string("adamw") && brings_momentum(method)) continue;
        expect_group_left_out({method, strategy, optimiser}, nan);
      }
    }
    expect_group_left_out({method, "overlapped", "sgd"}, infinity);
    expect_group_left_out({method, "overlapped", "sgd"}, -infinity);
  }
}

TEST(NonFinite, ResidualsTakeTheFiniteElementsIn) {
  const auto comm = world();
  StrategyRig rig({"top_k:ratio=0.05", "overlapped", "sgd"}, *comm);
  for (index_t step = 0; step < 2; ++step) rig.step(step);
  const auto before = rig.residual();
  EXPECT_TRUE(rig.step(2, spoilt_on_last_rank(*comm, nan)).skipped());
  const auto after = rig.residual(), gradient = gradient_values(std::ssize(before), comm->rank(), 2);
  for (std::size_t i = 0; i < after.size(); ++i) {
    const bool spoilt = comm->rank() == comm->size() - 1 && i == after.size() / 2;
    EXPECT_EQ(after[i], spoilt ? before[i] : before[i] + gradient[i]) << i;
  }
}

TEST(NonFinite, IsLeftOutByItsOwnRankAloneBetweenExchanges) {
  for (const char* optimiser : {"sgd", "adamw"}) {
    const auto comm = world();
    const bool last = comm->rank() == comm->size() - 1;
    StrategyRig rig({"top_k:ratio=0.05", "local:period=3:outer_momentum=0.5", optimiser}, *comm);
    for (index_t step = 0; step < 4; ++step) EXPECT_FALSE(rig.step(step).skipped());
    const Bytes before = rig.everything();
    EXPECT_EQ(rig.step(4, spoilt_on_last_rank(*comm, nan)).skipped(), last);
    const auto changed = differences(before, rig.everything());
    if (last) {
      EXPECT_THAT(changed, testing::ElementsAre("steps"));
    } else {
      EXPECT_THAT(changed, testing::Contains("parameters"));
    }
    EXPECT_FALSE(rig.step(5).skipped());
    EXPECT_TRUE(gradcomp::test::same_bits(*comm, rig.parameters()));
  }
}

// The parameters of one rank overflow, so that its change is not finite.
TEST(NonFinite, ChangesTakeAllRanksBackToTheStart) {
  const auto comm = world();
  StrategyRig rig({"top_k:ratio=0.05", "local:period=2:outer_momentum=0.5", "adamw"}, *comm);
  for (index_t step = 0; step < 4; ++step) EXPECT_FALSE(rig.step(step).skipped());
  const Bytes before = rig.everything();
  EXPECT_FALSE(rig.step(4).skipped());
  if (comm->rank() == comm->size() - 1) rig.spoil_parameter(infinity);
  EXPECT_TRUE(rig.step(5).skipped());
  for (const std::string& path : differences(settled(before), settled(rig.everything()))) {
    EXPECT_TRUE(path.starts_with("inner/") || path == "steps")
        << path << ": only the rank's own moments may have changed";
  }
}

}  // namespace
}  // namespace gradcomp::train::test
