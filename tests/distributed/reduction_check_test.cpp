// gradcomp-allreduce checks the result of the timed run: it counts elements that only this run received wrong.
#include "distributed/kinds.hpp"
#include "gradcomp/allreduce/allreduce_benchmark.hpp"
#include "gradcomp/core/registry.hpp"

namespace gradcomp::test {
namespace reduction_check_test {

constexpr index_t elements = 3000;
const ReductionOptions few = {3, 1, 1, false};

ReductionResult measured(const std::string& method, Transport& transport, Transport& control) {
  return measure_reduction(Exec(), method, elements, transport, control, few);
}

/// Flips the sign bit of the last 4 bytes that large call number `when` of rank 0 receives, also in transports that
/// were split off.
Callbacks spoiling(Callbacks functions, int when, const std::shared_ptr<int>& seen) {
  const auto carry = functions.carry;
  functions.carry = [=, rank = functions.rank](const Exec& exec, const Call& call, Found& found) {
    if (!carry(exec, call, found)) return false;
    std::byte* end = nullptr;
    if (const auto* sum = std::get_if<AllReduce>(&call); sum != nullptr && sum->type == DType::f32 && sum->count > 100)
      end = static_cast<std::byte*>(sum->receive) + 4 * sum->count;
    if (const auto* all = std::get_if<AllGatherV>(&call); all != nullptr && found.blocks.size.back() > 300)
      end = all->receive + found.blocks.offset.back() + found.blocks.size.back();
    if (end == nullptr || ++*seen != when || rank != 0) return true;
    const Span<std::byte> last(end - 1, 1);
    std::byte sign{};
    Kokkos::deep_copy(HostSpan<std::byte>(&sign, 1), last);
    sign ^= std::byte{0x80};
    Kokkos::deep_copy(last, HostSpan<const std::byte>(&sign, 1));
    return true;
  };
  functions.split = [=, split = functions.split](int color, int key) {
    return spoiling(split(color, key), when, seen);
  };
  return functions;
}

TEST(ReductionCheck, EveryMethodIsRight) {
  const auto comm = world();
  for (const auto& entry : all_entries()) {
    if (entry.info.name == "atomo") continue;  // takes seconds per step
    for (const std::string& feedback : entry.info.feedbacks) {
      const auto result = measured(entry.info.name + ":feedback=" + feedback, *comm, *comm);
      EXPECT_EQ(result.wrong, 0) << entry.info.name << " " << feedback;
      EXPECT_EQ(result.times_ms.size(), 3u);
    }
  }
}

TEST(ReductionCheck, EveryReducerIsRight) {
  const auto comm = world();
  for (const std::string reducer : {"gtop_k", "ok_topk"}) {
    for (const std::string feedback : {"residual", "ef21"})
      EXPECT_EQ(measured("top_k:ratio=0.05:feedback=" + feedback + ":reducer=" + reducer, *comm, *comm).wrong, 0);
  }
  EXPECT_EQ(measured("random_k:scale=unbiased:feedback=none", *comm, *comm).wrong, 0) << "refuses a residual";
  for (const std::string feedback : {"none", "residual"})
    EXPECT_EQ(measured("int8_block:reducer=requantising_ring:feedback=" + feedback, *comm, *comm).wrong, 0) << feedback;
  for (const std::string feedback : {"none", "residual", "ef21"})
    EXPECT_EQ(measured("ef_sign:reducer=two_phase:feedback=" + feedback, *comm, *comm).wrong, 0) << feedback;
}

TEST(ReductionCheck, FindsWhatOnlyTheTimedRunReceivedWrong) {
  const auto control = world();
  for (const std::string method :
       {"fp32", "fp32:feedback=residual", "top_k:ratio=0.05", "top_k:ratio=0.05:feedback=none",
        "top_k:ratio=0.05:feedback=ef21", "top_k:ratio=0.05:feedback=momentum_correction"}) {
    for (const int when : {4, 5}) {  // the last of 4 steps, or none of them
      const auto spoilt = make_callbacks(spoiling(functions_of(world()), when, std::make_shared<int>(0)));
      const index_t wrong = measured(method, *spoilt, *control).wrong;
      EXPECT_EQ(wrong, when == 4 ? 1 : 0) << method;
    }
  }
}

}  // namespace reduction_check_test
}  // namespace gradcomp::test
