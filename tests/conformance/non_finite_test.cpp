// NaN and infinity: the step is flagged on all ranks, memories stay finite and lose nothing, and the next step works.
#include <cmath>
#include <limits>

#include "conformance/cases.hpp"
#include "conformance/simulated_rank.hpp"

namespace gradcomp::conformance {
namespace {

bool all_finite(const std::vector<float>& values) {
  for (const float v : values) {
    if (!std::isfinite(v)) return false;
  }
  return true;
}

void check_flagged(const MethodSpec& method, const Layout& layout, float poison, index_t where) {
  auto ranks = make_ranks(method, layout, 2);
  const bool has_memory = ranks[0].source().has_memory();
  const bool travels = method.compressor->info().reducer != "local";
  set_gradients(ranks, "laplace", 41);
  ASSERT_TRUE(run_step(ranks, 0).ok);

  auto values = make_data("laplace", layout.count(), 42);
  ranks[0].set_gradient(values);
  values[static_cast<std::size_t>(where)] = poison;
  ranks[1].set_gradient(values);
  std::vector<std::vector<float>> a;
  for (const auto& w : ranks) a.push_back(w.accumulated());
  const Step flagged = run_step(ranks, 1);
  EXPECT_FALSE(flagged.ok);
  if (!flagged.kept.empty()) {
    EXPECT_EQ(flagged.kept[1], 0) << "a flagged payload has empty sections";
    if (device_is_host) {  // a device flags a message that the host has sized already
      EXPECT_EQ(static_cast<index_t>(flagged.messages[1].size()), payload_header_bytes);
    }
  }
  give_back(ranks);
  for (std::size_t w = 0; has_memory && w < ranks.size(); ++w) {
    const auto r = ranks[w].memory();
    ASSERT_TRUE(all_finite(r)) << "rank " << w;
    for (std::size_t i = 0; i < r.size(); ++i)
      ASSERT_NEAR(r[i], a[w][i], 1e-6) << "rank " << w << " element " << i;  // a is about 1e-2
  }
  set_gradients(ranks, "laplace", 43);
  const Step next = run_step(ranks, 2);
  EXPECT_TRUE(next.ok);
  for (std::size_t w = 0; w < ranks.size(); ++w) {
    EXPECT_TRUE(all_finite(next.out[w]));
    EXPECT_TRUE(all_finite(ranks[w].memory()));
    if (!travels) continue;
    EXPECT_EQ(0, std::memcmp(next.out[0].data(), next.out[w].data(), next.out[0].size() * sizeof(float)));
  }
}

}  // namespace

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

}  // namespace gradcomp::conformance
