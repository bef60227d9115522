#include "gradcomp/coders/value_coder.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <limits>

#include "gradcomp/core/error.hpp"
#include "unit/coders/support.hpp"

namespace gradcomp::coders {
namespace value_coder_test {

using coders_test::Bytes;
using coders_test::Guarded;
using coders_test::Received;
using Values = std::vector<float>;

/// Every registered coder.
const std::vector<std::string> codings = value_coder_list().names();
constexpr float largest = std::numeric_limits<float>::max(), smallest = std::numeric_limits<float>::denorm_min();

struct Section {
  Bytes bytes;
  Values decoded;  ///< the decoded values that the sender computes
};

index_t bytes_of(const std::string& coding, index_t kept) { return find_value_coder(coding).bytes(kept); }

Section encode(const std::string& coding, const Values& values) {
  const auto kept = static_cast<index_t>(values.size());
  const auto size = static_cast<std::size_t>(bytes_of(coding, kept));
  const Guarded<float> in(values), decoded(values.size());
  const Guarded<std::byte> out(size);
  const Exec exec;
  find_value_coder(coding).encode(exec, in.data(), kept, out.data(), decoded.data());
  exec.fence();
  EXPECT_TRUE(out.intact() && decoded.intact());
  EXPECT_TRUE(in.host(values.size()) == values);
  const Guarded<std::byte> again(size);
  find_value_coder(coding).encode(exec, in.data(), kept, again.data(), in.data());  // in place
  exec.fence();
  EXPECT_TRUE(again.host(size) == out.host(size));
  EXPECT_TRUE(in.host(values.size()) == decoded.host(values.size()));
  return {out.host(size), decoded.host(values.size())};
}

bool decode(const std::string& coding, const Bytes& bytes, index_t kept, Values& values) {
  const Received in(bytes);
  const Guarded<float> out(static_cast<std::size_t>(kept));
  values.resize(static_cast<std::size_t>(kept));
  bool good = true;
  try {
    const float* const found = decode_values(Exec(), find_value_coder(coding), in.span(), kept, out.data());
    Kokkos::deep_copy(HostSpan<float>(values.data(), values.size()), Span<const float>(found, values.size()));
  } catch (const Error&) {
    good = false;
  }
  EXPECT_TRUE(out.intact());
  return good;
}

/// Encodes and decodes values, checks what holds for every coder, and returns the result.
Values round_trip(const std::string& coding, const Values& values) {
  const Section section = encode(coding, values);
  Values back;
  EXPECT_TRUE(decode(coding, section.bytes, static_cast<index_t>(values.size()), back));
  EXPECT_TRUE(std::equal(back.begin(), back.end(), section.decoded.begin(), [](float a, float b) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
  }));
  return back;
}

Values normal_values(std::size_t count, float scale) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  Values values(count);
  for (auto& v : values) v = scale * normal(random);
  return values;
}

TEST(ValueCoder, Bytes) {
  EXPECT_EQ(bytes_of("f32", 5), 20);
  EXPECT_EQ(bytes_of("f16", 5), 12);
  EXPECT_EQ(bytes_of("bf16", 6), 12);
  EXPECT_EQ(bytes_of("int8", 1), 8);
  EXPECT_EQ(bytes_of("int8", 256), 260);
  EXPECT_EQ(bytes_of("int8", 257), 8 + 260);
  for (const std::string& coding : codings) {
    EXPECT_EQ(bytes_of(coding, 0), 0);
    EXPECT_EQ(find_value_coder(coding).name, coding);
  }
  EXPECT_THROW(find_value_coder("f64"), Error);
}

TEST(ValueCoder, ErrorsAreThoseOfTheFormats) {
  for (const std::size_t count : {0, 1, 2, 3, 31, 33, 255, 256, 257, 1001}) {
    const Values values = normal_values(count, 0.01f);
    EXPECT_TRUE(round_trip("f32", values) == values);
    const Values f16 = round_trip("f16", values), bf16 = round_trip("bf16", values), int8 = round_trip("int8", values);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t block = i / 256 * 256;
      float most = 0;
      for (std::size_t j = block; j < std::min(count, block + 256); ++j) most = std::max(most, std::abs(values[j]));
      ASSERT_LE(std::abs(f16[i] - values[i]), std::max(std::abs(values[i]) * 0x1p-11f, 0x1p-25f));
      ASSERT_LE(std::abs(bf16[i] - values[i]), std::abs(values[i]) * 0x1p-8f);
      ASSERT_LE(std::abs(int8[i] - values[i]), most / 127 * 0.50001f);
      ASSERT_TRUE(std::abs(values[i]) < most || std::abs(int8[i] - values[i]) <= most * 1e-6f);
    }
  }
}

// Checks every byte: the scale of a block, and then its codes, rounded to the nearest, ties to even.
TEST(ValueCoder, Int8LayoutAndTies) {
  Values values(258, 0.0f);
  values[0] = 127, values[1] = 0.5f, values[2] = 1.5f, values[3] = -2.5f, values[255] = -127, values[256] = 254,
  values[257] = 3;
  const Section section = encode("int8", values);
  float scales[2];
  std::memcpy(scales, section.bytes.data(), 8);
  EXPECT_EQ(scales[0], 1);
  EXPECT_EQ(scales[1], 2);
  const auto code = [&](std::size_t i) { return static_cast<int>(static_cast<std::int8_t>(section.bytes[8 + i])); };
  EXPECT_EQ(code(0), 127);
  EXPECT_EQ(code(1), 0);
  EXPECT_EQ(code(2), 2);
  EXPECT_EQ(code(3), -2);
  EXPECT_EQ(code(255), -127);
  EXPECT_EQ(code(256), 127);
  EXPECT_EQ(code(257), 2);
  EXPECT_EQ(section.bytes.size(), 8u + 260u);
  EXPECT_EQ(code(258), 0);
  EXPECT_EQ(code(259), 0);
}

TEST(ValueCoder, FiniteStaysFinite) {
  const Values hostile = {largest,
                          -largest,
                          65504.0f,
                          65519.0f,
                          65520.0f,
                          -1e30f,
                          smallest,
                          -smallest,
                          0.0f,
                          -0.0f,
                          std::numeric_limits<float>::min(),
                          1e-42f,
                          1.0f};
  for (const std::string& coding : codings)
    for (const float v : round_trip(coding, hostile)) EXPECT_TRUE(std::isfinite(v)) << coding;
  const Values f16 = round_trip("f16", hostile);
  EXPECT_EQ(f16[0], 65504);
  EXPECT_EQ(f16[1], -65504);
  EXPECT_EQ(f16[4], 65504);
  EXPECT_TRUE(f16[9] == 0 && std::signbit(f16[9]));
  EXPECT_EQ(round_trip("bf16", hostile)[1], -3.3895313892515355e38f);
  EXPECT_NEAR(round_trip("int8", hostile)[1] / largest, -1, 1e-4);
}

TEST(ValueCoder, Int8OfZerosAndDenormals) {
  for (const float v : round_trip("int8", Values(300, -0.0f))) EXPECT_EQ(v, 0);
  for (const float scale : {1.0f, 50.0f, 63.0f, 64.0f, 100.0f, 190.0f, 191.0f, 1000.0f, 1e6f}) {
    Values values = normal_values(300, 0.2f);
    for (auto& v : values) v = std::max(std::min(v, 1.0f), -1.0f) * scale * smallest;
    values[0] = scale * smallest;
    const Values back = round_trip("int8", values);
    for (std::size_t i = 0; i < 300; ++i) {
      ASSERT_TRUE(std::isfinite(back[i]));
      ASSERT_LE(std::abs(back[i]), 2 * scale * smallest);
      ASSERT_TRUE(scale >= 64 || back[i] == 0) << "the block's scale underflows";
    }
  }
}

TEST(ValueCoder, WhatIsNoSectionIsRefused) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::string coding : {"f32", "f16", "bf16", "int8"}) {
    const index_t kept = 261;
    const Section section = encode(coding, normal_values(261, 1));
    Values back;
    for (const std::size_t size : {std::size_t{0}, section.bytes.size() - 4, section.bytes.size() - 1})
      EXPECT_FALSE(decode(coding, Bytes(section.bytes.begin(), section.bytes.begin() + size), kept, back));
    Bytes changed = section.bytes;
    changed.resize(changed.size() + 4);
    EXPECT_FALSE(decode(coding, changed, kept, back));
    const std::vector<float> bad = coding == "int8" ? Values{inf, nan, -1.0f, largest} : Values{inf, -inf, nan};
    for (const float v : bad) {
      changed = section.bytes;
      if (coding == "f16") {
        const std::uint16_t half = std::isnan(v) ? 0x7e01 : 0x7c00;
        std::memcpy(&changed[4], &half, 2);
      } else {
        std::memcpy(&changed[4], &v, 4);  // changes a value, the upper half of bf16 values, or the second scale
      }
      if (v == largest) changed[8 + 256] = std::byte{100};
      EXPECT_FALSE(decode(coding, changed, kept, back)) << coding << " " << v;
    }
    changed = section.bytes;
    changed.back() = std::byte{1};  // padding, but with f32 a part of the last value
    EXPECT_EQ(decode(coding, changed, kept, back), coding == "f32") << coding;
  }
}

TEST(ValueCoder, Int8RefusesCodesAndScalesThatNoEncoderWrites) {
  constexpr float largest_scale = 0x1.0204p121f;
  const index_t kept = 261;
  const Section section = encode("int8", normal_values(261, 1));
  Values back;
  for (const std::size_t at : {0u, 255u, 256u, 260u}) {
    Bytes changed = section.bytes;
    changed[8 + at] = std::byte{0x80};
    EXPECT_FALSE(decode("int8", changed, kept, back)) << at;
  }
  for (const float scale : {largest_scale, std::nextafter(largest_scale, largest), largest, -0.0f}) {
    Bytes changed = section.bytes;
    std::memcpy(&changed[4], &scale, 4);
    std::fill(changed.begin() + 8 + 256, changed.end(), std::byte{0});
    EXPECT_EQ(decode("int8", changed, kept, back), scale == largest_scale) << scale;
  }
}

TEST(ValueCoder, RandomBytesGiveFiniteValuesOrAreRefused) {
  std::mt19937 random(9);
  for (const std::string& coding : codings)
    for (int trial = 0; trial < 50; ++trial) {
      const index_t kept = 1 + trial % 9;
      Bytes bytes(static_cast<std::size_t>(bytes_of(coding, kept)));
      for (auto& byte : bytes) byte = static_cast<std::byte>(random());
      Values back;
      if (!decode(coding, bytes, kept, back)) continue;
      for (const float v : back) EXPECT_TRUE(std::isfinite(v));
    }
}

}  // namespace value_coder_test
}  // namespace gradcomp::coders
