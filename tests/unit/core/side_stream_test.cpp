#include "gradcomp/core/side_stream.hpp"

#include <gtest/gtest.h>

#include "gradcomp/core/read_back.hpp"

namespace gradcomp {
namespace side_stream_test {

/// Free functions: nvcc allows no kernel in the body of a test.
void add_to_all(const Exec& exec, const Vector<int>& values, int term) {
  Kokkos::parallel_for(
      "gradcomp::test::add_to_all", IndexRange(exec, 0, static_cast<index_t>(values.size())),
      KOKKOS_LAMBDA(const index_t i) { values(i) += term; });
}

void double_all(const Exec& exec, const Vector<int>& values) {
  Kokkos::parallel_for(
      "gradcomp::test::double_all", IndexRange(exec, 0, static_cast<index_t>(values.size())),
      KOKKOS_LAMBDA(const index_t i) { values(i) *= 2; });
}

TEST(SideStream, IsTheCallersInstanceOnHostsAndItsOwnOnADevice) {
  const Exec caller;
  SideStream side;
  EXPECT_EQ(&side.beside(caller) == &caller, device_is_host);
  EXPECT_EQ(&side.after(caller), &side.beside(caller));
}

TEST(SideStream, WorkFollowsThatOfTheCallerAndTheCallerWaitsForIt) {
  const Exec caller;
  const Vector<int> values("values", 1 << 22);
  SideStream side;
  for (int turn = 0; turn < 3; ++turn) {
    add_to_all(caller, values, 1);
    double_all(side.after(caller), values);
    add_to_all(side.beside(caller), values, 3);
    side.join(caller);
  }
  int last = 0;
  read_back(caller, subspan(Span<const int>(values), (1 << 22) - 1, 1), &last, "gradcomp::test");
  EXPECT_EQ(last, 35);  // 0 -> 5 -> 15 -> 35
}

}  // namespace side_stream_test
}  // namespace gradcomp
