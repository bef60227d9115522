#include "gradcomp/kernels/quantise/casts.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#ifdef __CUDACC__
#include <cuda_fp16.h>
#endif

#include "gradcomp/kernels/quantise/cast_rows.hpp"

namespace gradcomp::kernels {
namespace casts_test {

/// The value of a code, by the definition of a format with `mantissa` bits and the exponent bias `bias`.
double value_of(std::uint32_t bits, int mantissa, int bias) {
  const std::uint32_t magnitude = bits & 0x7fffu;
  const int exponent = static_cast<int>(magnitude >> mantissa);
  const double fraction = static_cast<double>(magnitude & ((1u << mantissa) - 1)) / (1u << mantissa);
  const double size = exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
  return (bits & 0x8000u) != 0 ? -size : size;
}

template <class Format>
void check_all_codes(int mantissa, int bias) {
  const std::uint32_t infinity = ((1u << (15 - mantissa)) - 1) << mantissa;
  for (std::uint32_t code = 0; code < 0x10000; ++code) {
    const auto half = static_cast<std::uint16_t>(code);
    const float value = Format::decode(half);
    if ((code & 0x7fff) > infinity) {
      ASSERT_TRUE(std::isnan(value)) << code;
      ASSERT_TRUE(std::isnan(Format::decode(Format::encode(value)))) << code;
      continue;
    }
    ASSERT_EQ(Format::encode(value), half) << code;
    if ((code & 0x7fff) == infinity) {
      ASSERT_TRUE(std::isinf(value));
    } else {
      ASSERT_EQ(static_cast<double>(value), value_of(code, mantissa, bias)) << code;
    }
  }
}

/// For any two neighbouring codes, the value in the middle goes to the even code, and its neighbours to the nearer
/// code.
template <class Format>
void check_rounding(std::uint16_t largest) {
  for (std::uint32_t code = 0; code < largest; ++code) {
    const auto low = static_cast<std::uint16_t>(code), high = static_cast<std::uint16_t>(code + 1);
    const float middle = Format::decode(low) + (Format::decode(high) - Format::decode(low)) / 2;
    ASSERT_EQ(Format::encode(middle), (code & 1) == 0 ? low : high) << code;
    ASSERT_EQ(Format::encode(-middle), ((code & 1) == 0 ? low : high) | 0x8000) << code;
    ASSERT_EQ(Format::encode(std::nextafter(middle, 0.0f)), low) << code;
    ASSERT_EQ(Format::encode(std::nextafter(middle, 1e38f)), high) << code;
  }
}

using Words = Vector<std::uint32_t>;

template <class T>
void expect_equal(const Vector<T>& found, const Vector<T>& expected) {
  const auto one = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, found);
  const auto other = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, expected);
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(one(i), other(i)) << i;
}

/// Compares rows of 32 by encode_row() with single elements, for floats with all exponents and low bits.
template <class Format>
void check_encode_rows() {
  const index_t rows = 0x100000000ll / 997 / warp_lanes;
  const auto count = static_cast<std::size_t>(rows * warp_lanes);
  Vector<std::uint16_t> codes("codes", count), one_by_one("one_by_one", count);
  for_warps(
      "test::encode_rows", Exec{}, rows, KOKKOS_LAMBDA(const Warp& warp, index_t row) {
        const index_t first = row * warp_lanes;
        Lanes<float> x;
        warp.each([&](int l) {
          const float any = Kokkos::bit_cast<float>(static_cast<std::uint32_t>(first + l) * 997u);
          x[l] = any >= -Format::largest && any <= Format::largest ? any : quiet_nan();
        });
        encode_row<Format>(warp, x, &codes(first));
        warp.each([&](int l) { one_by_one(first + l) = Format::encode(x[l]); });
      });
  expect_equal(codes, one_by_one);
}

/// Compares rows of 32 by decode_row() with single elements, for every code, including NaNs.
template <class Format>
void check_decode_rows() {
  Vector<std::uint16_t> codes("codes", 0x10000);
  Words values("values", codes.size()), one_by_one("one_by_one", codes.size());
  for_warps(
      "test::decode_rows", Exec{}, static_cast<index_t>(codes.size()) / warp_lanes,
      KOKKOS_LAMBDA(const Warp& warp, index_t row) {
        const index_t first = row * warp_lanes;
        warp.each([&](int l) { codes(first + l) = static_cast<std::uint16_t>(first + l); });
        Lanes<float> x;
        decode_row<Format>(warp, &codes(first), x);
        warp.each([&](int l) {
          values(first + l) = Kokkos::bit_cast<std::uint32_t>(x[l]);
          one_by_one(first + l) = Kokkos::bit_cast<std::uint32_t>(Format::decode(codes(first + l)));
        });
      });
  expect_equal(values, one_by_one);
}

TEST(Casts, RowsHaveTheBitsOfTheirElements) {
  check_encode_rows<Half>();
  check_encode_rows<Bfloat>();
  check_decode_rows<Half>();
  check_decode_rows<Bfloat>();
}

TEST(Casts, EveryHalfDecodesAndEncodesToItself) { check_all_codes<Half>(10, 15); }
TEST(Casts, EveryBfloatDecodesAndEncodesToItself) { check_all_codes<Bfloat>(7, 127); }
TEST(Casts, HalfRoundsToNearestEven) { check_rounding<Half>(0x7bff); }
TEST(Casts, BfloatRoundsToNearestEven) { check_rounding<Bfloat>(0x7e00); }

TEST(Casts, EndsOfTheRange) {
  EXPECT_EQ(Half::encode(65504.0f), 0x7bff);
  EXPECT_EQ(Half::encode(std::nextafter(65520.0f, 0.0f)), 0x7bff);
  EXPECT_EQ(Half::encode(65520.0f), 0x7c00);
  EXPECT_EQ(Half::encode(-1e30f), 0xfc00);
  EXPECT_EQ(Half::encode(0x1p-25f), 0);
  EXPECT_EQ(Half::encode(std::nextafter(0x1p-25f, 1.0f)), 1);
  EXPECT_EQ(Half::encode(std::numeric_limits<float>::denorm_min()), 0);
  EXPECT_EQ(Bfloat::encode(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(Bfloat::decode(0x7f7f), Bfloat::largest);
  EXPECT_EQ(Half::decode(0x7bff), Half::largest);
}

TEST(Casts, RoundDownNeverExceedsItsBound) {
  for (int ranks = 1; ranks <= 300; ++ranks) {
    const auto count = static_cast<float>(ranks);
    const double half = round_down<Half>(Half::largest / count), bfloat = round_down<Bfloat>(Bfloat::largest / count);
    EXPECT_LE(half * ranks, static_cast<double>(Half::largest) * (1 + 1e-7));
    EXPECT_LE(bfloat * ranks, static_cast<double>(Bfloat::largest) * (1 + 1e-7));
    EXPECT_GT(half * ranks, 65504.0 * (1 - 0x1p-9));
  }
}

#if defined(__CUDACC__) || defined(__FLT16_MAX__)
/// The conversion by the compiler, or by the CUDA Toolkit for nvcc, which has no _Float16 on the host.
std::uint16_t half_of_others(float value) {
#ifdef __CUDACC__
  return static_cast<__half_raw>(__float2half_rn(value)).x;
#else
  return Kokkos::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
#endif
}

// An independent reference, with a stride that covers all exponents and low bits.
TEST(Casts, HalfAgreesWithTheCompiler) {
  for (std::uint64_t bits = 0; bits < 0x100000000u; bits += 997) {
    const float value = Kokkos::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (std::isnan(value)) continue;
    ASSERT_EQ(Half::encode(value), half_of_others(value)) << value;
  }
}
#endif

}  // namespace casts_test
}  // namespace gradcomp::kernels
