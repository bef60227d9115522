// The messages of a step: their number of bytes, that equal inputs give equal bytes, and that a step allocates nothing.
#include "conformance/cases.hpp"
#include "conformance/simulated_rank.hpp"
#include "same_bits.hpp"

namespace gradcomp::conformance {
namespace message_test {

void check_bytes(const MethodSpec& method, const Layout& layout, const std::string& values) {
  auto ranks = make_ranks(method, layout, 1);
  const Compressor& compressor = *method.compressor;
  for (int step = 0; step < 2; ++step) {
    set_gradients(ranks, values, 7 + static_cast<std::uint64_t>(step));
    const StepResult done = run_step(ranks, step);
    ASSERT_TRUE(done.ok());
    const auto sent = static_cast<index_t>(done.messages[0].size());
    const bool bytes = !done.kept.empty();
    index_t kept = 0;
    for (const index_t k : bytes ? done.kept : ranks[0].state->kept) kept += k;
    const index_t headers = payload_header_bytes * static_cast<index_t>(done.kept.size());
    if (compressor.info().fixed_bytes) {
      EXPECT_EQ(sent - headers, compressor.payload_bytes(layout, kept)) << "kept " << kept;
    } else {
      EXPECT_LE(sent - headers, compressor.payload_bytes(layout, kept)) << "kept " << kept;
    }
    if (bytes) {
      EXPECT_LE(sent, compressor.payload_capacity(layout));
      EXPECT_LE(kept, layout.count());
      index_t per_segment = 0;
      for (const index_t k : ranks[0].state->kept) per_segment += k;
      if (per_segment != 0) {
        EXPECT_EQ(per_segment, kept) << "State::kept and the header disagree";
      }
    }
    const State& state = *ranks[0].state;
    EXPECT_TRUE(state.target.empty() || state.target.size() == layout.segments.size()) << "one target per segment";
    EXPECT_EQ(state.target.size(), state.kept.size());
    EXPECT_EQ(done.allocations, 0) << "device allocations after prepare()";
    EXPECT_TRUE(ranks[0].out.intact());
  }
}

void check_same_bytes(const MethodSpec& method, const Layout& layout, const std::string& values) {
  StepResult done[2];
  for (auto& step : done) {
    auto ranks = make_ranks(method, layout, 2);
    for (int i = 0; i < 2; ++i) {
      set_gradients(ranks, values, 3);
      step = run_step(ranks, i, 5);
    }
  }
  EXPECT_EQ(done[0].messages, done[1].messages);
  for (std::size_t r = 0; r < 2; ++r) EXPECT_TRUE(test::same_bits(done[0].out[r], done[1].out[r]));
}

TEST_P(Conformance, BytesAreTheFormulaAndNothingIsAllocated) {
  for (const auto& feedback : feedbacks()) {
    SCOPED_TRACE(feedback);
    for_each_case(
        [&](const auto& layout, const auto& values) { check_bytes(method(feedback), layout.layout, values.name); });
    for (const NamedLayout& large : large_layouts())
      if (is_default()) check_bytes(method(feedback), large.layout, "laplace");
  }
}

TEST_P(Conformance, SameInputsSameBytes) {
  for (const auto& feedback : feedbacks()) {
    SCOPED_TRACE(feedback);
    for_each_case([&](const auto& layout, const auto& values) {
      check_same_bytes(method(feedback), layout.layout, values.name);
    });
    if (is_default()) check_same_bytes(method(feedback), large_layouts().front().layout, "laplace");
  }
}

}  // namespace message_test
}  // namespace gradcomp::conformance
