// Everything that a method remembers is in its memories: if they are copied into new objects, these give the same
// bytes.
#include <gtest/gtest-spi.h>

#include "conformance/broken.hpp"
#include "conformance/cases.hpp"
#include "conformance/simulated_rank.hpp"
#include "same_bits.hpp"

namespace gradcomp::conformance {
namespace restart_test {

Memories memories_of(const SimulatedRank& rank) {
  Memories all = rank.feedback.memories();
  for (MemoryView& memory : rank.state->memories()) all.push_back(std::move(memory));
  return all;
}

void copy(const MemoryView& from, const MemoryView& to) {
  ASSERT_EQ(from.path(), to.path());
  ASSERT_EQ(from.bytes, to.bytes) << from.path();
  ASSERT_EQ(from.on_host, to.on_host) << from.path();
  if (from.bytes == 0) return;  // the layout is empty
  if (from.on_host) {
    std::memcpy(to.data, from.data, static_cast<std::size_t>(from.bytes));
  } else {
    Kokkos::deep_copy(to.on_device(), from.on_device());
  }
}

/// All bytes of all memories.
std::vector<std::byte> remembered(const SimulatedRank& rank) {
  std::vector<std::byte> all;
  for (const MemoryView& memory : memories_of(rank)) {
    std::vector<std::byte> one(static_cast<std::size_t>(memory.bytes));
    if (memory.on_host && memory.bytes > 0) std::memcpy(one.data(), memory.data, one.size());
    if (!memory.on_host) one = to_host(static_cast<const std::byte*>(memory.data), memory.bytes);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

std::vector<SimulatedRank> restored(const std::vector<SimulatedRank>& from, const MethodSpec& method,
                                    const Layout& layout) {
  auto ranks = make_ranks(method, layout, static_cast<int>(from.size()));
  for (std::size_t r = 0; r < from.size(); ++r) {
    const Memories source = memories_of(from[r]), target = memories_of(ranks[r]);
    EXPECT_EQ(source.size(), target.size());
    for (std::size_t m = 0; m < std::min(source.size(), target.size()); ++m) copy(source[m], target[m]);
  }
  return ranks;
}

/// Makes three steps, and then a fourth one with the same objects and with new ones.
void expect_same_fourth_step(const MethodSpec& method, const Layout& layout) {
  auto ranks = make_ranks(method, layout, 2);
  for (int step = 0; step < 3; ++step) {
    set_gradients(ranks, "laplace", 301 + static_cast<std::uint64_t>(step));
    EXPECT_TRUE(run_step(ranks, step).ok());
  }
  auto fresh = restored(ranks, method, layout);
  set_gradients(ranks, "laplace", 304);
  set_gradients(fresh, "laplace", 304);
  const StepResult expected = run_step(ranks, 3), found = run_step(fresh, 3);
  bool same = expected.messages == found.messages;
  for (std::size_t r = 0; r < 2; ++r) {
    same = same && test::same_bits(expected.out[r], found.out[r]);
    same = same && remembered(ranks[r]) == remembered(fresh[r]);
  }
  EXPECT_TRUE(same) << "a new object with the same memories does something else";
}

TEST_P(Conformance, MemoriesAreAllThatIsRemembered) {
  for (const char* feedback : {"none", "residual", "momentum_correction", "ef21"}) {
    if (!takes(feedback)) continue;
    SCOPED_TRACE(feedback);
    for (const auto& layout : layouts()) {
      if (layout.name != "many" && !(is_default() && layout.name == "matrix")) continue;
      SCOPED_TRACE(layout.name);
      expect_same_fourth_step(method(feedback), layout.layout);
    }
  }
}

TEST(Registry, AMethodThatHidesItsMemoriesIsReported) {
  EXPECT_NONFATAL_FAILURE(expect_same_fourth_step(broken("signum", Fault::hides_memories), Layout::flat(1003)),
                          "does something else");
}

}  // namespace restart_test
}  // namespace gradcomp::conformance
