// The boundaries of ok_topk's owners come from other ranks and from checkpoints. Wrong ones must be refused before they
// are used.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "error_of.hpp"
#include "gradcomp/exchange/reduction.hpp"
#include "gradcomp/method/spec.hpp"
#include "unit/comm/fake_transport.hpp"

namespace gradcomp {
namespace ok_topk_bounds_test {

using testing::HasSubstr;

class OkTopkBounds : public testing::Test {
 protected:
  /// The largest entries belong to other owners, so that the transport can pretend that all owners have the list of
  /// this rank.
  OkTopkBounds() : gradient("gradient", 1000), mean("mean", 1000) {
    std::vector<float> values(1000);
    for (std::size_t i = 700; i < values.size(); ++i) values[i] = static_cast<float>(i);
    Kokkos::deep_copy(gradient, HostSpan<const float>(values.data(), values.size()));
  }

  void step(std::int64_t number) {
    reduction.begin(Exec(), gradient, mean, {1, number, 0, 3}, nullptr);
    reduce(reduction, Exec());
  }
  std::span<index_t> bounds() {
    for (const MemoryView& memory : reduction.memories()) {
      if (memory.name == "owner_bounds") return {static_cast<index_t*>(memory.data), 4};
    }
    throw Error("ok_topk keeps no boundaries");
  }

  test::FakeTransport comm{3};
  Faults faults;
  Reduction reduction{parse_method("top_k:ratio=0.05:reducer=ok_topk:reducer.interval=8"), Layout::flat(1000), comm,
                      faults};
  Vector<float> gradient, mean;
};

TEST_F(OkTopkBounds, OfACheckpointAreLookedAt) {
  const std::vector<index_t> good(bounds().begin(), bounds().end());
  EXPECT_NO_THROW(step(1));
  for (const std::vector<index_t>& bad : {std::vector<index_t>{0, 700, 300, 1000},
                                          {0, -5, 600, 1000},
                                          {0, 300, 2000, 1000},
                                          {1, 300, 600, 1000},
                                          {0, 300, 600, 999},
                                          {0, index_t{1} << 60, 600, 1000}}) {
    std::copy(bad.begin(), bad.end(), bounds().begin());
    EXPECT_THAT(test::error_of([&] { step(1); }), HasSubstr("allowed: ascending elements from 0 to 1000"));
  }
  std::copy(good.begin(), good.end(), bounds().begin());
  EXPECT_NO_THROW(step(1));
}

TEST_F(OkTopkBounds, OfOtherRanksAreLookedAt) {
  EXPECT_NO_THROW(step(0));
  comm.log->tamper_sum = [](index_t* cuts, index_t count) {
    for (index_t i = 0; i < count; ++i) cuts[i] = 3000 - 4000 * i;
  };
  EXPECT_NO_THROW(step(1)) << "this step does not compute boundaries";
  EXPECT_THAT(test::error_of([&] { step(8); }), HasSubstr("the owners' ranges begin at 0, 1000, -333, 1000"));
}

}  // namespace ok_topk_bounds_test
}  // namespace gradcomp
