// Plants the faults that the build `lanes` is for, and looks whether each is found. Every kernel has a sound twin, in
// which nothing may be found.
#include <gtest/gtest.h>

#include "error_of.hpp"
#include "gradcomp/kernels/lanes/teams.hpp"

namespace gradcomp::kernels {
namespace planted_test {

constexpr index_t warps = 20;
const auto elements = static_cast<std::size_t>(warps * warp_lanes);

/// Every lane reads what its neighbour wrote. Returns how often it read something else; `seen` gets what was read.
template <bool planted>
int wrong_neighbours(std::uint64_t seed, std::vector<int>& seen) {
  const Vector<int> written("written", elements), read("read", elements);
  fibres::seed(seed);
  for_warps(
      "gradcomp::test::neighbours", Exec(), warps, KOKKOS_LAMBDA(const Warp& warp, index_t w) {
        int *const from = written.data() + w * warp_lanes, *const to = read.data() + w * warp_lanes;
        warp.each([&](int l) { from[l] = l + 1; });
        if (!planted) warp.sync();
        warp.each([&](int l) { to[l] = from[(l + 1) % warp_lanes]; });
      });
  seen.assign(read.data(), read.data() + elements);
  int wrong = 0;
  for (std::size_t i = 0; i < elements; ++i) wrong += seen[i] == static_cast<int>((i + 1) % warp_lanes) + 1 ? 0 : 1;
  return wrong;
}

TEST(Planted, AMissingSync) {
  std::vector<int> seen;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    EXPECT_EQ(wrong_neighbours<false>(seed, seen), 0);
    EXPECT_GE(wrong_neighbours<true>(seed, seen), warps) << "in no order can all lanes of a warp come before another";
  }
}

TEST(Planted, ASeedRepeatsItsOrder) {
  std::vector<int> first, again, other;
  wrong_neighbours<true>(3, first);
  wrong_neighbours<true>(3, again);
  wrong_neighbours<true>(4, other);
  EXPECT_EQ(first, again);
  EXPECT_NE(first, other);
}

/// The line of the fault that f() throws, or an empty one.
template <class F>
std::string fault_of(const F& f) {
  fibres::seed(17);
  try {
    f();
  } catch (const fibres::Fault& fault) {
    return fault.what();
  }
  return "";
}

void return_early(index_t warp_that_returns, int lane_that_returns) {
  const Vector<int> sums("sums", elements);
  for_warps(
      "gradcomp::test::return_early", Exec(), warps, KOKKOS_LAMBDA(const Warp& warp, index_t w) {
        bool returns = false;
        Lanes<int> x;
        warp.each([&](int l) {
          returns = w == warp_that_returns && (lane_that_returns < 0 || l == lane_that_returns);
          x[l] = l;
        });
        if (returns) return;
        sums(static_cast<std::size_t>(w)) = warp.sum(x);
      });
}

TEST(Planted, ADivergentReturn) {
  EXPECT_EQ(fault_of([] { return_early(-1, -1); }), "");
  EXPECT_EQ(fault_of([] { return_early(11, -1); }), "") << "all lanes of a warp return";
  const std::string fault = fault_of([] { return_early(11, 7); });  // warp 3 of its team of 8
  EXPECT_TRUE(fault.starts_with("gradcomp::test::return_early: divergent return: lane 7 of warp 3 has returned, lane "))
      << fault;
  EXPECT_TRUE(fault.ends_with(" of warp 3 waits at shuffle (GRADCOMP_LANES_SEED=17)")) << fault;
}

void part_ways(int lanes_that_part) {
  for_warps(
      "gradcomp::test::part_ways", Exec(), warps, KOKKOS_LAMBDA(const Warp& warp, index_t) {
        warp.each([&](int l) {
          if (l < lanes_that_part) {
            device::sync();
          } else {
            device::ballot(true);
          }
        });
      });
}

TEST(Planted, LanesAtDifferentOperations) {
  EXPECT_EQ(fault_of([] { part_ways(0); }), "");
  EXPECT_EQ(fault_of([] { part_ways(warp_lanes); }), "");
  const std::string fault = fault_of([] { part_ways(5); });
  EXPECT_TRUE(fault.starts_with("gradcomp::test::part_ways: different operations: lane ")) << fault;
  EXPECT_NE(fault.find("waits at sync"), std::string::npos) << fault;
  EXPECT_NE(fault.find("waits at ballot"), std::string::npos) << fault;
}

/// The threads of two teams exchange values through scratch memory. Returns how many got another one, or throws.
template <bool planted>
int wrong_in_teams(int thread_that_returns) {
  constexpr int threads = 64;
  using Scratch = TeamArray<int*>;
  const Vector<int> wrong("wrong", 1);
  for_teams<threads>(
      "gradcomp::test::exchange", Exec(), 2, Scratch::shmem_size(threads), KOKKOS_LAMBDA(const Team& team) {
        const Scratch shared(team.team_scratch(0), threads);
        const int own = team.team_rank();
        if (own == thread_that_returns && team.league_rank() == 1) return;
        shared(own) = own;
        if (!planted) team.team_barrier();
        if (shared(threads - 1 - own) != threads - 1 - own) ++wrong(0);
      });
  return wrong(0);
}

TEST(Planted, TeamsWithoutABarrier) {
  EXPECT_EQ(wrong_in_teams<false>(-1), 0);
  EXPECT_GT(wrong_in_teams<true>(-1), 0);
  EXPECT_EQ(fault_of([] { wrong_in_teams<true>(40); }), "");
  const std::string fault = fault_of([] { wrong_in_teams<false>(40); });
  EXPECT_TRUE(fault.starts_with("gradcomp::test::exchange: divergent return: lane 8 of warp 1 has returned, lane "))
      << fault;
}

TEST(Planted, AnErrorOfAKernelPasses) {
  EXPECT_EQ(test::error_of([] {
              for_warps(
                  "gradcomp::test::throw", Exec(), warps, KOKKOS_LAMBDA(const Warp& warp, index_t w) {
                    warp.sync();
                    require(w != 5, "no warp {}", w);
                  });
            }),
            "no warp 5");
  std::vector<int> seen;
  EXPECT_EQ(wrong_neighbours<false>(1, seen), 0) << "later kernels run";
}

/// Reads elements `shift` behind those of a warp: in an array, or in a local array of every lane.
void read(std::size_t size, int shift, bool local) {
  const Vector<float> x("x", size), sums("sums", elements);
  for_warps(
      "gradcomp::test::read", Exec(), warps, KOKKOS_LAMBDA(const Warp& warp, index_t w) {
        volatile float own[warp_lanes] = {};
        const volatile float* const from = own + shift;
        warp.sync();
        warp.each([&](int l) {
          const index_t i = w * warp_lanes + l;
          sums.data()[i] = local ? from[l] : x.data()[i + shift];
        });
      });
}

TEST(PlantedDeathTest, AReadOutside) {
  read(elements, 0, false);
  read(elements + 1, 1, false);
  read(elements, 0, true);
  EXPECT_DEATH(read(elements, 1, false), "heap-buffer-overflow");
  EXPECT_DEATH(read(elements, 1, true), "stack-buffer-overflow");
}

}  // namespace planted_test
}  // namespace gradcomp::kernels
