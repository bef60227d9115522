// 32-bit values in fewer bits: sizes, errors, values that are not finite, and that narrowing twice changes nothing.
#include "gradcomp/exchange/detail/narrow.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "copies.hpp"

namespace gradcomp {
namespace narrow_test {

constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();

struct Narrowed {
  std::vector<float> kept, widened;
  std::vector<std::byte> bytes;
};

Narrowed through(std::vector<float> values, Width width, ReduceOp op = ReduceOp::sum,
                 const std::vector<float>& onto = {}) {
  const Exec exec;
  const auto n = static_cast<index_t>(values.size());
  const Vector<float> from = test::to_device(values), into("into", values.size());
  const Vector<std::byte> bytes("bytes", static_cast<std::size_t>(narrow_bytes(width, n)));
  if (!onto.empty()) test::to_device(onto, into);
  narrow(exec, from, width, true, bytes.data());
  widen(exec, bytes.data(), width, !onto.empty(), op, into);
  return {test::to_host(from), test::to_host(into), test::to_host(bytes)};
}

/// Magnitudes over many powers of two, so that blocks have different scales.
std::vector<float> mixed(std::size_t count) {
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) {
    const auto x = static_cast<float>((i * 7919 + 13) % 2003) - 1001.0F;
    values.push_back(std::ldexp(x, static_cast<int>(i / 256 % 40) - 20));
  }
  return values;
}

TEST(Narrow, BytesAreThoseOfTheWidth) {
  EXPECT_EQ(narrow_bytes(Width::own, 1000), 4000);
  EXPECT_EQ(narrow_bytes(Width::fp16, 1000), 2000);
  EXPECT_EQ(narrow_bytes(Width::bf16, 1000), 2000);
  EXPECT_EQ(narrow_bytes(Width::int8, 1000), 1004);
  EXPECT_EQ(narrow_bytes(Width::int8, 1), 2);
  EXPECT_EQ(narrow_bytes(Width::int8, 0), 0);
}

TEST(Narrow, KeepsWhatOthersGetAndGivesTheSameBytesAgain) {
  for (const Width width : {Width::fp16, Width::bf16, Width::int8}) {
    for (const std::size_t count : {0UL, 1UL, 255UL, 256UL, 257UL, 10007UL}) {
      const Narrowed once = through(mixed(count), width), twice = through(once.kept, width);
      EXPECT_EQ(once.kept, once.widened) << count;
      EXPECT_EQ(twice.kept, once.kept) << count;
      EXPECT_EQ(twice.bytes, once.bytes) << count;
    }
  }
}

TEST(Narrow, EightBitsAreOffByHalfAStepOfTheBlock) {
  const auto values = mixed(10007);
  const auto found = through(values, Width::int8).widened;
  for (std::size_t first = 0; first < values.size(); first += 256) {
    const std::size_t end = std::min(values.size(), first + 256);
    float largest = 0;
    for (std::size_t i = first; i < end; ++i) largest = std::max(largest, std::abs(values[i]));
    // The step is the smallest power of two for which 127 steps reach the largest value.
    const float step = std::exp2(std::ceil(std::log2(largest / 127)));
    for (std::size_t i = first; i < end; ++i) ASSERT_LE(std::abs(found[i] - values[i]), step / 2) << i;
  }
}

TEST(Narrow, ZerosExtremesAndDenormals) {
  const float most = std::numeric_limits<float>::max(), least = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(through({0, -0.0F, 0}, Width::int8).widened, (std::vector<float>{0, 0, 0}));
  const auto extremes = through({most, -most, most / 2}, Width::int8).widened;
  for (const float x : extremes) EXPECT_TRUE(std::isfinite(x));
  EXPECT_NEAR(extremes[0] / most, 1, 0.01);
  EXPECT_EQ(through({least, -least}, Width::int8).widened, (std::vector<float>{0, 0}));
  EXPECT_EQ(through({127, 1, -127, 64}, Width::int8).widened, (std::vector<float>{127, 1, -127, 64}));
}

TEST(Narrow, WhatIsNotFiniteIsNoNumberAfterwards) {
  for (const float bad : {nan, infinity, -infinity}) {
    auto values = mixed(600);
    values[300] = bad;
    for (const Width width : {Width::fp16, Width::bf16, Width::int8}) {
      EXPECT_FALSE(std::isfinite(through(values, width).widened[300])) << bad;
    }
    const auto found = through(values, Width::int8).widened;
    for (std::size_t i = 256; i < 512; ++i) EXPECT_TRUE(std::isnan(found[i])) << i;
    EXPECT_TRUE(std::isfinite(found[255]) && std::isfinite(found[512])) << "other blocks must not change";
  }
}

TEST(Narrow, Combines) {
  const std::vector<float> values{1, -2, 3}, onto{10, 20, 30};
  for (const Width width : {Width::fp16, Width::bf16, Width::int8}) {
    EXPECT_EQ(through(values, width, ReduceOp::sum, onto).widened, (std::vector<float>{11, 18, 33}));
    EXPECT_EQ(through(values, width, ReduceOp::max, onto).widened, onto);
  }
}

}  // namespace narrow_test
}  // namespace gradcomp
