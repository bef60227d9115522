// Everything that a reduction remembers is in its memories: if they are copied into a new reduction on every rank, it
// gives the same bytes.
#include <set>

#include "distributed/two_phase_rig.hpp"
#include "gradcomp/exchange/one_rank.hpp"
#include "gradcomp/exchange/registry.hpp"
#include "gradcomp/method/spec.hpp"

namespace gradcomp::test {
namespace restart_test {

using Bytes = std::vector<std::byte>;

Bytes read(const MemoryView& memory) {
  Bytes bytes(static_cast<std::size_t>(memory.bytes));
  if (memory.on_host && !bytes.empty()) std::memcpy(bytes.data(), memory.data, bytes.size());
  if (!memory.on_host)
    Kokkos::deep_copy(HostSpan<std::byte>(bytes.data(), bytes.size()),
                      Span<const std::byte>(static_cast<const std::byte*>(memory.data), bytes.size()));
  return bytes;
}

void write(const Bytes& bytes, const MemoryView& memory) {
  EXPECT_EQ(static_cast<index_t>(bytes.size()), memory.bytes) << memory.path();
  if (static_cast<index_t>(bytes.size()) != memory.bytes || bytes.empty()) return;
  if (memory.on_host) std::memcpy(memory.data, bytes.data(), bytes.size());
  if (!memory.on_host)
    Kokkos::deep_copy(Span<std::byte>(static_cast<std::byte*>(memory.data), bytes.size()),
                      HostSpan<const std::byte>(bytes.data(), bytes.size()));
}

/// All memories by the names that checkpoints use. These names have to differ.
std::map<std::string, Bytes> memories_of(OneBucket& run) {
  std::map<std::string, Bytes> all;
  for (const MemoryView& memory : run.reduction.memories()) {
    EXPECT_TRUE(all.emplace(memory.path(), read(memory)).second) << "two memories are called " << memory.path();
  }
  return all;
}

/// The results of a step: the mean, what all calls moved, and the memories.
struct Outcome {
  std::vector<float> mean;
  index_t sent, received, payload;
  std::map<std::string, Bytes> memories;
  bool operator==(const Outcome&) const = default;
};

Outcome step_of(OneBucket& run, int number, int rank) {
  const Traffic before = run.comm->ledger().total();
  EXPECT_TRUE(run.step(number, gradient_values(network().count(), rank, number)));
  const Traffic after = run.comm->ledger().total();
  return {run.values(), after.sent - before.sent, after.received - before.received, run.reduction.bytes().payload,
          memories_of(run)};
}

class Restart : public testing::TestWithParam<std::string> {};

std::vector<std::string> reducer_names() {
  std::vector<std::string> names;
  for (const auto& entry : all_reducers()) names.push_back(entry.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Reducers, Restart, testing::ValuesIn(reducer_names()),
                         [](const auto& row) { return row.param; });

TEST_P(Restart, AFreshReductionWithTheSameMemoriesGoesOnAsTheOldOne) {
  const auto comm = world();
  std::set<std::string> carried;
  for (const std::string method : {"fp16", "top_k:ratio=0.05", "sidco:ratio=0.05", "qsgd", "ef_sign", "signum",
                                   "powersgd:rank=2", "no_exchange"}) {
    const Info info = parse_method(method).compressor->info();
    const auto reducers = reducers_of(info);
    if (std::find(reducers.begin(), reducers.end(), GetParam()) == reducers.end()) continue;
    for (const std::string& feedback : info.feedbacks) {
      if (GetParam() == "requantising_ring" && feedback != "none" && feedback != "residual")
        continue;  // it refuses them
      const std::string spec = with_option(with_option(method, "reducer", GetParam()), "feedback", feedback);
      SCOPED_TRACE(spec);
      carried.insert(spec);
      OneBucket run(spec, network(), *comm);
      for (int step = 0; step < 3; ++step) step_of(run, step, comm->rank());
      OneBucket fresh(spec, network(), *comm);
      const auto kept = memories_of(run);
      const Memories targets = fresh.reduction.memories();
      EXPECT_EQ(kept.size(), targets.size());
      for (const MemoryView& target : targets) {
        const auto found = kept.find(target.path());
        EXPECT_NE(found, kept.end()) << target.path();
        if (found != kept.end()) write(found->second, target);
      }
      const Outcome expected = step_of(run, 3, comm->rank()), found = step_of(fresh, 3, comm->rank());
      EXPECT_TRUE(expected == found);
    }
  }
  EXPECT_FALSE(carried.empty()) << "no method of the list is carried by " << GetParam();
}

}  // namespace restart_test
}  // namespace gradcomp::test
