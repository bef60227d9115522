#pragma once
// Conversions between float and the two 16-bit formats, rounding to nearest, ties to even. They use only integer and
// correctly rounded float arithmetic, so that the bits are the same on every host and device, with any half type of
// Kokkos or the compiler. They have only branches that a compiler can turn into selects, so that loops over them
// vectorise.
#include "gradcomp/core/types.hpp"

namespace gradcomp::kernels {

/// The NaN that stands for a value that may not be sent.
KOKKOS_INLINE_FUNCTION float quiet_nan() { return Kokkos::bit_cast<float>(0x7fc00000u); }

/// IEEE binary16: 11 significant bits, largest 65504, smallest 2^-24. |x| >= 65520 becomes infinite, and |x| <= 2^-25
/// becomes zero.
struct Half {
  static constexpr DType dtype = DType::f16;
  static constexpr float largest = 65504.0f;
  static constexpr std::uint16_t nan = 0x7e00;

  /// The code of `value`. A NaN stays a NaN (it becomes quiet and keeps its leading payload bits).
  KOKKOS_INLINE_FUNCTION static std::uint16_t encode(float value) {
    const std::uint32_t bits = Kokkos::bit_cast<std::uint32_t>(value);
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    const std::uint32_t nan = 0x7e00u | ((magnitude >> 13) & 0x1ffu);
    const std::uint32_t special = (magnitude > 0x7f800000u ? nan : 0x7c00u) | ((bits >> 16) & 0x8000u);
    return magnitude >= (143u << 23) ? static_cast<std::uint16_t>(special) : encode_finite(value);
  }

  /// encode() of a value within +-largest.
  KOKKOS_INLINE_FUNCTION static std::uint16_t encode_finite(float value) {
    const std::uint32_t bits = Kokkos::bit_cast<std::uint32_t>(value);
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    // normal results: change the bias of the exponent from 127 to 15, add half a unit minus one plus the last kept bit,
    // and truncate
    const std::uint32_t normal = (magnitude - (112u << 23) + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
    // subnormal results: the float addition of 0.5 rounds at 2^-24, the spacing of the half's subnormals
    const float shifted = Kokkos::bit_cast<float>(magnitude) + 0.5f;
    const std::uint32_t subnormal = Kokkos::bit_cast<std::uint32_t>(shifted) - 0x3f000000u;
    return static_cast<std::uint16_t>((magnitude < (113u << 23) ? subnormal : normal) | ((bits >> 16) & 0x8000u));
  }

  /// encode() of a value within +-largest, or of quiet_nan().
  KOKKOS_INLINE_FUNCTION static std::uint16_t encode_sent(float value) { return encode(value); }

  /// The value of the code `half`, always exact. A NaN becomes quiet.
  KOKKOS_INLINE_FUNCTION static float decode(std::uint16_t half) {
    const std::uint32_t magnitude = (half & 0x7fffu) << 13;
    const std::uint32_t exponent = magnitude & (0x7c00u << 13);
    const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
    const std::uint32_t normal = magnitude + (112u << 23);
    const float small = Kokkos::bit_cast<float>(magnitude + (113u << 23)) - Kokkos::bit_cast<float>(113u << 23);
    const std::uint32_t subnormal = Kokkos::bit_cast<std::uint32_t>(small);
    const std::uint32_t special = (magnitude + (224u << 23)) | (magnitude > (0x7c00u << 13) ? 0x400000u : 0u);
    const std::uint32_t result = exponent == 0 ? subnormal : exponent == (0x7c00u << 13) ? special : normal;
    return Kokkos::bit_cast<float>(result | sign);
  }
};

/// bfloat16: the upper half of a float, 8 significant bits, largest 3.39e38.
struct Bfloat {
  static constexpr DType dtype = DType::bf16;
  static constexpr float largest = 3.3895313892515355e38f;
  static constexpr std::uint16_t nan = 0x7fc0;

  /// The code of `value`. A NaN stays a NaN, and becomes quiet.
  KOKKOS_INLINE_FUNCTION static std::uint16_t encode(float value) {
    const std::uint32_t bits = Kokkos::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
    return static_cast<std::uint16_t>(nan ? (bits >> 16) | 0x40u : rounded);
  }

  /// encode() of a value within +-largest.
  KOKKOS_INLINE_FUNCTION static std::uint16_t encode_finite(float value) {
    const std::uint32_t bits = Kokkos::bit_cast<std::uint32_t>(value);
    return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
  }

  /// encode() of a value within +-largest, or of quiet_nan(), which rounding does not change.
  KOKKOS_INLINE_FUNCTION static std::uint16_t encode_sent(float value) { return encode_finite(value); }

  /// The value of the code `half`, always exact.
  KOKKOS_INLINE_FUNCTION static float decode(std::uint16_t half) {
    return Kokkos::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
  }
};

/// The largest value of the format that is not above `bound`, which is finite and positive.
template <class Format>
float round_down(float bound) {
  const std::uint16_t nearest = Format::encode(bound);
  const bool above = Format::decode(nearest) > bound;  // also if it became infinite
  return Format::decode(static_cast<std::uint16_t>(above ? nearest - 1 : nearest));
}

}  // namespace gradcomp::kernels
