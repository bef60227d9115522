// A method whose Info does not say host_sizes never waits for its device between launch and finish. Fences show this,
// and host builds have them too: those of core/read_back.hpp, and those of reductions to a variable of the host.
#include <gmock/gmock.h>

#include "conformance/cases.hpp"
#include "conformance/listening.hpp"
#include "conformance/simulated_rank.hpp"
#include "gradcomp/comm/transports/self.hpp"
#include "gradcomp/exchange/reduction.hpp"

namespace gradcomp::conformance {
namespace waits_test {

/// The fences of the third step. The wait for the counts of faults uses an event, which is not a fence.
std::vector<std::string> waits_of(const MethodSpec& method) {
  Layout layout;
  layout.add("a", {1003}).add("b", {60, 50}).add("c", {1});
  const auto self = make_self();
  Faults faults;
  Reduction reduction(method, layout, *self, faults);
  const std::vector<float> values = make_data("laplace", layout.count(), 1);
  const Vector<float> gradient("gradient", values.size()), mean("mean", values.size());
  const Exec exec;
  const auto make_step = [&](int step) {
    reduction.begin(exec, gradient, mean, {1, step, 0, 1}, nullptr);
    reduce(reduction, exec);
    faults.fetch(exec);
  };
  for (int step = 0; step < 2; ++step) {
    Kokkos::deep_copy(gradient, HostSpan<const float>(values.data(), values.size()));
    make_step(step);
  }
  Kokkos::deep_copy(gradient, HostSpan<const float>(values.data(), values.size()));
  const Listening listening;
  make_step(2);
  EXPECT_FALSE(faults.diverged());
  return listening.heard().waits;
}

TEST_P(Conformance, WaitsForNoDeviceUnlessItSaysSo) {
  for (const char* feedback : {"none", "residual", "momentum_correction", "ef21"}) {
    if (!takes(feedback)) continue;
    SCOPED_TRACE(feedback);
    const MethodSpec spec = method(feedback);
    const auto found = waits_of(spec);
    if (!spec.compressor->info().host_sizes) {
      EXPECT_THAT(found, testing::IsEmpty());
    }
    if (GetParam() == "top_k") {
      EXPECT_THAT(found, testing::Not(testing::IsEmpty())) << "the test records no fence";
    }
  }
}

}  // namespace waits_test
}  // namespace gradcomp::conformance
