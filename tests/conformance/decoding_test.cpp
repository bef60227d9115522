// A step must send a part of its gradient. The residual identity alone also holds for a method that never sends
// anything.
#include <gtest/gtest-spi.h>

#include "conformance/broken.hpp"
#include "conformance/cases.hpp"
#include "conformance/simulated_rank.hpp"

namespace gradcomp::conformance {
namespace decoding_test {

/// What is decoded in some steps with the same gradient must have a positive scalar product with it.
double decoded_along(const MethodSpec& method, const Layout& layout, const std::vector<float>& gradient) {
  auto ranks = make_ranks(method, layout, 1);
  ranks[0].set_gradient(gradient);
  double along = 0;
  for (int step = 0; step < 4; ++step) {
    const StepResult done = run_step(ranks, step);
    if (!done.ok()) return 0;
    for (std::size_t i = 0; i < gradient.size(); ++i) along += static_cast<double>(done.out[0][i]) * gradient[i];
  }
  return along;
}

void expect_something_decoded(const MethodSpec& method, const Layout& layout) {
  double along = decoded_along(method, layout, make_data("laplace", layout.count(), 101));
  if (!method.compressor->info().scale_free) {  // a threshold of the method may be above all elements of a gradient
    for (const char* larger : {"ties", "huge"})
      along = std::max(along, decoded_along(method, layout, make_data(larger, layout.count(), 101)));
  }
  EXPECT_GT(along, 0) << "nothing is decoded";
}

TEST_P(Conformance, DecodesSomething) {
  for (const char* feedback : {"none", "residual", "momentum_correction", "ef21"}) {
    if (!takes(feedback)) continue;
    SCOPED_TRACE(feedback);
    for (const auto& layout : layouts()) {
      if (layout.name != "n1" && layout.name != "n1003" && layout.name != "many") continue;
      SCOPED_TRACE(layout.name);
      expect_something_decoded(method(feedback), layout.layout);
    }
  }
}

TEST(Registry, AMethodThatDecodesNothingIsReported) {
  for (const std::string feedback : {"none", "residual"}) {
    const MethodSpec method = broken("top_k:feedback=" + feedback, Fault::decodes_nothing);
    EXPECT_NONFATAL_FAILURE(expect_something_decoded(method, Layout::flat(1003)), "nothing is decoded");
  }
}

TEST(Registry, AMethodWhoseResidualThrowsIsReported) {
  const MethodSpec method = broken("top_k:feedback=residual", Fault::throws_on_memory);
  EXPECT_THROW(accepts_residual(method, true), Error) << "a broken method was taken for one that refuses a residual";
  const MethodSpec refuses = parse_method("random_k:scale=unbiased:feedback=residual");
  EXPECT_FALSE(accepts_residual(refuses, true));
  EXPECT_THROW(accepts_residual(refuses, false), Error) << "the defaults of a method may not refuse each other";
}

}  // namespace decoding_test
}  // namespace gradcomp::conformance
