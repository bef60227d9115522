// A step must send a part of its gradient. The residual identity alone also holds for a method that never sends
// anything.
#include <gtest/gtest-spi.h>

#include "conformance/broken.hpp"
#include "conformance/cases.hpp"
#include "conformance/simulated_rank.hpp"
#include "same_bits.hpp"

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

/// decode_sum() of many messages gives the bits of decode_add(), one by one in the same order, whatever `out` holds.
void check_sum(const MethodSpec& method, const Layout& layout, const std::string& values, std::size_t messages) {
  auto ranks = make_ranks(method, layout, 3);
  set_gradients(ranks, values, 57);
  ASSERT_TRUE(run_step(ranks, 0).ok());
  const Exec exec;
  Faults faults;
  std::vector<Received> all;
  for (std::size_t m = 0; m < messages; ++m) {
    const Message& message = ranks[m % 3].message;
    all.push_back({Span<const std::byte>(message.payload.data(), static_cast<std::size_t>(message.size)),
                   {1, 0, static_cast<int>(m % 3), 3},
                   1.0f / static_cast<float>(m + 1),
                   faults.counts()});
  }
  Guarded<float> sum(layout.count()), one_by_one(layout.count());
  sum.fill(7);
  ranks[0].compressor->decode_sum(exec, all, *ranks[0].state, sum.span());
  for (const Received& one : all) ranks[0].compressor->decode_add(exec, one, *ranks[0].state, one_by_one.span());
  faults.fetch(exec);
  EXPECT_FALSE(faults.diverged());
  EXPECT_TRUE(test::same_bits(sum.values(), one_by_one.values()));
  EXPECT_TRUE(sum.intact());
}

TEST_P(Conformance, SumsMessagesAsOneByOne) {
  const MethodSpec spec = method("none");
  if (spec.compressor->info().rounds != std::vector{MessageKind::bytes})
    GTEST_SKIP() << "the method does not send one message of bytes";
  for_each_case([&](const auto& layout, const auto& values) {
    for (const std::size_t messages : {1, 3, 11}) check_sum(spec, layout.layout, values.name, messages);
  });
  if (is_default()) check_sum(spec, large_layouts().front().layout, "laplace", 9);
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
