#include "gradcomp/measure/read_limit.hpp"

#include <gtest/gtest.h>

#include "error_of.hpp"

namespace gradcomp {
namespace read_limit_test {

using gradcomp::test::error_of;

/// The values 0, 1, ..., 6, 0, 1, ..., whose sums are exact in float.
Vector<float> ramp(index_t count) {
  Vector<float> data("ramp", static_cast<std::size_t>(count));
  const auto host = Kokkos::create_mirror_view(data);
  for (index_t i = 0; i < count; ++i) host(static_cast<std::size_t>(i)) = static_cast<float>(i % 7);
  Kokkos::deep_copy(data, host);
  return data;
}

double ramp_sum(index_t count) {
  double sum = 0;
  for (index_t i = 0; i < count; ++i) sum += static_cast<double>(i % 7);
  return sum;
}

TEST(ReadLimit, ReadsEveryElement) {
  const Exec exec;
  for (const index_t count :
       {index_t{0}, index_t{1}, index_t{127}, index_t{129}, index_t{32768}, index_t{32769}, index_t{1'000'003}}) {
    const auto data = ramp(count);
    ReadProbe probe(count);
    EXPECT_GT(probe.seconds(exec, data), 0);
    EXPECT_DOUBLE_EQ(probe.sum(), ramp_sum(count)) << count;
  }
}

TEST(ReadLimit, SeesAChangeOfAnyElement) {
  const Exec exec;
  const index_t count = 3 * 32768 + 45;
  const auto data = ramp(count);
  ReadProbe probe(count);
  for (const index_t i : {index_t{0}, index_t{32767}, index_t{32768}, index_t{3 * 32768 + 31}, count - 1}) {
    const Span<float> one = subspan(Span<float>(data), i, 1);
    Kokkos::deep_copy(exec, one, static_cast<float>(i % 7 + 1));
    probe.seconds(exec, data);
    EXPECT_DOUBLE_EQ(probe.sum(), ramp_sum(count) + 1) << i;
    Kokkos::deep_copy(exec, one, static_cast<float>(i % 7));
  }
}

TEST(ReadLimit, RefusesLongerArraysAndNoRepetitions) {
  const Exec exec;
  const auto data = ramp(40000);
  ReadProbe probe(100);
  // 100 floats need one tile, and a tile has 32,768.
  EXPECT_EQ(error_of([&] { probe.seconds(exec, data); }), "a read probe for at most 32768 floats cannot read 40000");
  EXPECT_EQ(error_of([&] { read_limit_seconds(exec, data, 0); }), "0 repetitions are not allowed; allowed: at least 1");
  EXPECT_EQ(error_of([&] { read_limit_seconds(exec, data, 1); }), "");
}

TEST(ReadLimit, LimitsArePositiveAndOrdered) {
  const Exec exec;
  const index_t count = 4'000'000;
  const Vector<float> a("a", static_cast<std::size_t>(count));
  const auto b = ramp(count), c = ramp(count);
  const double read = read_limit_seconds(exec, b);
  const double copy = copy_limit_seconds(exec, b, a);
  EXPECT_FLOAT_EQ(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, a)(10), 3.0F);
  const double triad = triad_limit_seconds(exec, a, b, c, 2.0F);
  EXPECT_FLOAT_EQ(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, a)(10), 9.0F);
  EXPECT_GT(read, 0);
  EXPECT_GT(copy, 0);
  EXPECT_GT(triad, 0);
  const double bytes = 4e-9 * static_cast<double>(count);
  RecordProperty("read_gb_s", std::to_string(bytes / read));
  std::printf("read %.1f GB/s, copy %.1f, triad %.1f\n", bytes / read, 2 * bytes / copy, 3 * bytes / triad);
  const auto five = subspan(Span<float>(a), 0, 5);
  EXPECT_EQ(error_of([&] { copy_limit_seconds(exec, b, five); }),
            "copy of 4000000 floats to 5; allowed: equal numbers");
  EXPECT_EQ(error_of([&] { triad_limit_seconds(exec, five, b, c, 2.0F); }),
            "triad of 5, 4000000 and 4000000 floats; allowed: equal numbers");
  EXPECT_EQ(error_of([&] { triad_limit_seconds(exec, a, b, five, 2.0F); }),
            "triad of 4000000, 4000000 and 5 floats; allowed: equal numbers");
}

}  // namespace read_limit_test
}  // namespace gradcomp
