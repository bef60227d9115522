// Reductions of two vectors, element by element.
#include "gradcomp/kernels/lanes/combine.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "copies.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/kernels/quantise/casts.hpp"

namespace gradcomp::kernels {
namespace combine_test {

template <class T>
std::vector<T> combined(DType type, ReduceOp op, const std::vector<T>& first, const std::vector<T>& second) {
  const Vector<T> a = test::to_device(first), b = test::to_device(second);
  combine(Exec(), type, op, a.data(), b.data(), static_cast<index_t>(first.size()), b.data());
  return test::to_host(b);
}

std::vector<std::uint16_t> halves(const std::vector<float>& values) {
  std::vector<std::uint16_t> codes;
  for (const float value : values) codes.push_back(Half::encode(value));
  return codes;
}

TEST(Combine, Floats) {
  const std::vector<float> a = {1, -2, 3, 0.5F}, b = {4, -8, -3, 0.25F};
  EXPECT_EQ(combined(DType::f32, ReduceOp::sum, a, b), (std::vector<float>{5, -10, 0, 0.75F}));
  EXPECT_EQ(combined(DType::f32, ReduceOp::max, a, b), (std::vector<float>{4, -2, 3, 0.5F}));
  EXPECT_EQ(combined(DType::f32, ReduceOp::min, a, b), (std::vector<float>{1, -8, -3, 0.25F}));
  EXPECT_EQ(combined(DType::f32, ReduceOp::sum, std::vector<float>{}, {}), std::vector<float>{});
}

TEST(Combine, ANanOfEitherTermStays) {
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::max, ReduceOp::min}) {
    for (const float value : combined(DType::f32, op, std::vector<float>{NAN, 1}, {1, NAN})) {
      EXPECT_TRUE(std::isnan(value));
    }
  }
}

TEST(Combine, HalvesAreRoundedOnceInEveryCall) {
  // At 2048, the spacing of binary16 is 2: 2048 + 1 is a tie, which goes to the even 2048, and 2048 + 3 goes to 2052.
  EXPECT_EQ(combined(DType::f16, ReduceOp::sum, halves({2048, 2048, 1}), halves({1, 3, 2})), halves({2048, 2052, 3}));
  EXPECT_EQ(combined(DType::f16, ReduceOp::max, halves({-1, 5}), halves({-2, 6})), halves({-1, 6}));
  const std::vector<std::uint16_t> large = {Bfloat::encode(256)}, one = {Bfloat::encode(1)};
  EXPECT_EQ(combined(DType::bf16, ReduceOp::sum, large, one), large) << "8 significant bits";
}

TEST(Combine, Integers) {
  using Bytes = std::vector<std::int8_t>;
  EXPECT_EQ(combined(DType::i8, ReduceOp::sum, Bytes{100, -3}, Bytes{27, 5}), (Bytes{127, 2}));
  using Codes = std::vector<std::uint8_t>;
  EXPECT_EQ(combined(DType::u8, ReduceOp::bor, Codes{1, 6}, Codes{2, 3}), (Codes{3, 7}));
  using Words = std::vector<std::int32_t>;
  EXPECT_EQ(combined(DType::i32, ReduceOp::min, Words{-7, 2}, Words{3, 9}), (Words{-7, 2}));
  using Longs = std::vector<std::int64_t>;
  EXPECT_EQ(combined(DType::i64, ReduceOp::sum, Longs{1LL << 40}, Longs{1}), (Longs{(1LL << 40) + 1}));
}

TEST(Combine, FloatsHaveNoBitwiseOr) {
  EXPECT_THROW(combined(DType::f32, ReduceOp::bor, std::vector<float>{1}, {1}), Error);
}

}  // namespace combine_test
}  // namespace gradcomp::kernels
