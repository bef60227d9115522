// NaN and infinity: all ranks see that some gradient is not finite, and memories stay finite.
#include <cmath>
#include <limits>

#include "conformance/cases.hpp"
#include "conformance/simulated_rank.hpp"

namespace gradcomp::conformance {
namespace non_finite_test {

bool all_finite(const std::vector<float>& values) {
  for (const float v : values) {
    if (!std::isfinite(v)) return false;
  }
  return true;
}

void check_flagged(const MethodSpec& method, const Layout& layout, float poison, index_t where) {
  auto ranks = make_ranks(method, layout, 2);
  const bool has_memory = ranks[0].source().has_memory();
  set_gradients(ranks, "laplace", 41);
  ASSERT_TRUE(run_step(ranks, 0).ok());

  set_gradients(ranks, "laplace", 42);
  auto values = make_data("laplace", layout.count(), 42);
  values[static_cast<std::size_t>(where)] = poison;
  ranks[1].set_gradient(values);
  const StepResult flagged = run_step(ranks, 1);
  if (method.compressor->info().travels) {
    EXPECT_EQ(flagged.diverged, 2) << "not all ranks know that the run ends";
  }
  // What a caller with loss scaling relies on.
  if (has_memory) {
    for (const auto& rank : ranks) EXPECT_TRUE(all_finite(rank.memory()));
  }
}

TEST_P(Conformance, NonFiniteGradientFlagsTheStep) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const auto& feedback : feedbacks()) {
    for (const auto& layout : layouts()) {
      const index_t n = layout.layout.count();
      if (n == 0) continue;
      for (const index_t where : {index_t{0}, n / 2, n - 1}) {
        for (const float poison : {nan, inf, -inf}) {
          SCOPED_TRACE(fmt::format("{} {} {} at {}", feedback, layout.name, poison, where));
          check_flagged(method(feedback), layout.layout, poison, where);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

}  // namespace non_finite_test
}  // namespace gradcomp::conformance
