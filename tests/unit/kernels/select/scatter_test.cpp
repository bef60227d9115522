#include "gradcomp/kernels/select/scatter.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
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

/// A payload on the device.
Vector<std::uint32_t> payload_of(const std::vector<std::uint32_t>& indices, const std::vector<float>& values,
                                 PayloadHeader header) {
  header.kept = indices.size();
  std::vector<std::uint32_t> words(payload_header_bytes / 4 + 2 * indices.size());
  std::memcpy(words.data(), &header, sizeof(header));
  if (!indices.empty()) {
    std::memcpy(&words[payload_header_bytes / 4], indices.data(), 4 * indices.size());
    std::memcpy(&words[payload_header_bytes / 4 + indices.size()], values.data(), 4 * values.size());
  }
  return to_device<std::uint32_t>(words);
}

TEST(Scatter, EntriesThatAreBadAreLeftOut) {
  const auto payload = payload_of({0, 3, 3, 4, 1000}, {1, -2, 7, std::numeric_limits<float>::quiet_NaN(), 7}, {});
  const auto out = to_device<float>({10, 10, 10, 10, 10});
  const Faults faults;
  const SparseMessages messages{
      .message = {{payload.data(), 5, 2.0f}}, .count = 1, .expected = {}, .faults = faults.counts()};
  sum_messages(Exec(), messages, false, out);
  EXPECT_EQ(test::to_host(out), (std::vector<float>{12, 10, 10, 6, 10}));
  EXPECT_EQ(test::to_host(faults.counts().at, 2), (std::vector<index_t>{0, 3})) << "diverged, broken";
}

// Units and blocks cut the lists anywhere. Each entry is taken once; in lists without order, bad entries are found.
TEST(Scatter, EachEntryOfEachMessageIsTakenOnce) {
  for (const index_t n : {1, 2000, 8192, 8193, 70000, 300001}) {
    for (const bool sorted : {true, false}) {
      std::vector<Vector<std::uint32_t>> payloads;
      std::vector<float> expected(static_cast<std::size_t>(n), 0.0f);
      index_t broken = 0;
      const Faults faults;
      SparseMessages messages;
      messages.count = messages_together;
      messages.faults = faults.counts();
      for (int m = 0; m < messages_together; ++m) {
        std::vector<std::uint32_t> indices;
        std::vector<float> values;
        for (index_t i = m; i < n; i += 1 + (i * 7 + m) % (20 * (m + 1))) {
          indices.push_back(static_cast<std::uint32_t>(sorted || i % 97 != 5 ? i : (i * 7919) % (n + 100)));
          values.push_back(0.1f * static_cast<float>(1 + i % 1000));
        }
        const auto count = static_cast<index_t>(indices.size());
        const float weight = 1.0f / static_cast<float>(m + 3);
        payloads.push_back(payload_of(indices, values, {}));
        messages.message[m] = {payloads.back().data(), count, weight};
        for (std::size_t j = 0; sorted && j < indices.size(); ++j) expected[indices[j]] += weight * values[j];
        const auto i = to_device(indices);
        const auto v = to_device(values);
        broken += count_bad_entries(Exec(), i.data(), v.data(), count, n);
      }
      const auto out = to_device(std::vector<float>(static_cast<std::size_t>(n), 7.0f));
      sum_messages(Exec(), messages, true, out);
      if (sorted) {
        EXPECT_EQ(test::to_host(out), expected) << n;
      }
      const auto counts = test::to_host(faults.counts().at, 2);
      EXPECT_EQ(counts[0], 0);
      EXPECT_GE(counts[1], broken) << n;
      EXPECT_EQ(counts[1] > 0, broken > 0) << n;
    }
  }
}

TEST(Scatter, AFlaggedMessageMakesElementZeroNaN) {
  PayloadHeader flagged;
  flagged.flags = PayloadHeader::flag_diverged;
  const auto good = payload_of({0, 9000}, {1, 2}, {}), bad = payload_of({}, {}, flagged);
  const auto out = to_device(std::vector<float>(10000, 7.0f));
  const Faults faults;
  const SparseMessages messages{.message = {{good.data(), 2, 1.0f}, {bad.data(), 0, 1.0f}, {good.data(), 2, 1.0f}},
                                .count = 3,
                                .expected = {},
                                .faults = faults.counts()};
  sum_messages(Exec(), messages, true, out);
  const auto sum = test::to_host(out);
  EXPECT_TRUE(std::isnan(sum[0]));
  EXPECT_EQ(sum[9000], 4);
  EXPECT_EQ(sum[1], 0);
  EXPECT_EQ(test::to_host(faults.counts().at, 2), (std::vector<index_t>{1, 0})) << "diverged, broken";
}

}  // namespace scatter_test
}  // namespace gradcomp::kernels
