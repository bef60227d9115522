#include "gradcomp/kernels/select/scatter.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "copies.hpp"

namespace gradcomp::kernels {
namespace scatter_test {

using test::to_device;

TEST(Scatter, AddsWeightedValues) {
  const auto indices = to_device<std::uint32_t>({0, 3, 4});
  const auto values = to_device<float>({1, -2, 0.5f});
  const auto out = to_device<float>({10, 10, 10, 10, 10});
  const Exec exec;
  scatter_add(exec, indices.data(), values.data(), 3, 2.0f, out);
  EXPECT_EQ(test::to_host(out), (std::vector<float>{12, 10, 10, 6, 11}));
}

TEST(Scatter, BadEntriesAreCounted) {
  const auto bad = [](const std::vector<std::uint32_t>& indices, const std::vector<float>& values) {
    const auto i = to_device(indices);
    const auto v = to_device(values);
    return count_bad_entries(Exec(), i.data(), v.data(), static_cast<index_t>(indices.size()), 10);
  };
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(bad({}, {}), 0);
  EXPECT_EQ(bad({0, 1, 9}, {1, 2, 3}), 0);
  EXPECT_EQ(bad({0, 1, 10}, {1, 2, 3}), 1);
  EXPECT_EQ(bad({0xffffffffu}, {1}), 1);
  EXPECT_EQ(bad({1, 1}, {1, 2}), 1);
  EXPECT_EQ(bad({2, 1}, {1, 2}), 1);
  EXPECT_EQ(bad({0, 1, 2}, {inf, nan, 0}), 2);
}

TEST(Scatter, ReceivedEntriesThatAreBadAreLeftOut) {
  const auto indices = to_device<std::uint32_t>({0, 3, 3, 4, 1000});
  const auto values = to_device<float>({1, -2, 7, std::numeric_limits<float>::quiet_NaN(), 7});
  const auto out = to_device<float>({10, 10, 10, 10, 10});
  const Faults faults;
  scatter_received(Exec(), indices.data(), values.data(), 5, 2.0f, {.faults = faults.counts()}, out);
  EXPECT_EQ(test::to_host(out), (std::vector<float>{12, 10, 10, 6, 10}));
  EXPECT_EQ(test::to_host(faults.counts().at, 2), (std::vector<index_t>{0, 3})) << "diverged, broken";
}

}  // namespace scatter_test
}  // namespace gradcomp::kernels
