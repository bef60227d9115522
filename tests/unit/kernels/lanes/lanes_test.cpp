#include "gradcomp/kernels/lanes/lanes.hpp"

#include <gtest/gtest.h>

namespace gradcomp::kernels {

struct LaneResults {
  std::uint32_t ballot, set_lanes, ranks;
  std::int32_t sum, max, total, broadcast;
  std::int32_t prefix[warp_lanes];
};

/// Does every operation across lanes with x[l] = (l * 7) % 32, once for each of `count` warps.
Kokkos::View<LaneResults*, Kokkos::HostSpace> run_lanes(index_t count) {
  const Vector<LaneResults> results("results", static_cast<std::size_t>(count));
  const Exec exec;
  for_warps(
      "gradcomp::test::run_lanes", exec, count, KOKKOS_LAMBDA(const Warp& warp, index_t i) {
        LaneResults& r = results(i);
        Lanes<std::int32_t> x;
        warp.each([&](int l) { x[l] = (l * 7) % 32; });
        const std::uint32_t mask = warp.ballot([&](int l) { return x[l] >= 16; });
        const std::int32_t sum = warp.sum(x), max = warp.max(x), lane5 = warp.broadcast(x, 5);
        Lanes<std::int32_t> prefix = x;
        const std::int32_t total = warp.exclusive_sum(prefix);
        warp.once([&] { r.ballot = mask, r.sum = sum, r.max = max, r.total = total, r.broadcast = lane5; });
        warp.each([&](int l) { r.prefix[l] = prefix[l]; });
        warp.for_set(mask, [&](int l, int rank) {
          Kokkos::atomic_or(&r.set_lanes, 1u << l);
          Kokkos::atomic_or(&r.ranks, 1u << rank);
        });
      });
  exec.fence();
  const Kokkos::View<LaneResults*, Kokkos::HostSpace> host("host", results.size());
  Kokkos::deep_copy(host, results);
  return host;
}

TEST(Lanes, CrossLaneOperations) {
  const auto results = run_lanes(1000);
  std::uint32_t mask = 0;
  int total = 0;
  for (int l = 0; l < 32; ++l) mask |= ((l * 7) % 32 >= 16 ? 1u : 0u) << l;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto& r = results(i);
    ASSERT_EQ(r.ballot, mask);
    ASSERT_EQ(r.set_lanes, mask);
    ASSERT_EQ(r.ranks, 0xffffu);  // 16 of the 32 lanes, ranks 0 to 15
    ASSERT_EQ(r.sum, 31 * 32 / 2);
    ASSERT_EQ(r.total, r.sum);
    ASSERT_EQ(r.max, 31);
    ASSERT_EQ(r.broadcast, 35 % 32);
    total = 0;
    for (int l = 0; l < 32; ++l) {
      ASSERT_EQ(r.prefix[l], total);
      total += (l * 7) % 32;
    }
  }
}

/// The lanes that for_set_padded() named for the ranks 0, 1, 2, ..., 0 where it named none.
std::vector<int> padded_lanes(std::uint32_t mask) {
  const Vector<int> lanes("lanes", 2 * warp_lanes);
  const Exec exec;
  for_warps(
      "gradcomp::test::padded_lanes", exec, 1, KOKKOS_LAMBDA(const Warp& warp, index_t) {
        warp.for_set_padded(mask, [&](int l, int rank) { lanes(rank) = l; });
      });
  exec.fence();
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, lanes);
  return std::vector<int>(host.data(), host.data() + host.size());
}

TEST(Lanes, PaddedEnumerationOfAnyMask) {
  for (const std::uint32_t mask : {0u, 1u, 0x80000000u, 0x80000001u, 0x00f000f0u, 0xffffffffu, 0xdeadbeefu}) {
    std::vector<int> expected;
    for (int l = 0; l < 32; ++l)
      if ((mask >> l) & 1u) expected.push_back(l);
    expected.resize(2 * warp_lanes, 0);  // padding is lane 0: a row may have no other
    EXPECT_EQ(padded_lanes(mask), expected) << mask;
  }
}

}  // namespace gradcomp::kernels
