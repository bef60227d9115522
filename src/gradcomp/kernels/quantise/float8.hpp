#pragma once
// The two 8-bit floats of Micikevicius et al., "FP8 formats for deep learning" (arXiv 2209.05433), as the OCP OFP8
// specification has them. Conversions in integer and exact float arithmetic only: the same bits everywhere.
#include "gradcomp/core/types.hpp"

namespace gradcomp::kernels {

/// `mantissa_bits` behind the sign and an exponent of 7 - mantissa_bits bits; codes with magnitudes above `max_code`
/// are no numbers (or, `infinity_code`, infinite).
template <int mantissa_bits, int exponent_bias, std::uint32_t most, std::uint32_t infinity>
struct Float8 {
  static constexpr std::uint32_t max_code = most;           ///< of the largest finite value
  static constexpr std::uint32_t infinity_code = infinity;  ///< NaN where the format has no infinity
  static constexpr std::uint32_t nan_code = 0x7f;
  static constexpr int min_exponent = 1 - exponent_bias;  ///< of normal values; subnormals share their spacing

  /// Value of a code, always exact.
  KOKKOS_INLINE_FUNCTION static float decode(std::uint32_t code) {
    const std::uint32_t magnitude = code & 0x7fu, sign = (code & 0x80u) << 24;
    const std::uint32_t exponent = magnitude >> mantissa_bits;
    const std::uint32_t normal =
        (magnitude << (23 - mantissa_bits)) + (static_cast<std::uint32_t>(127 - exponent_bias) << 23);
    const float spacing = Kokkos::bit_cast<float>(static_cast<std::uint32_t>(127 + min_exponent - mantissa_bits) << 23);
    const std::uint32_t subnormal = Kokkos::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * spacing);
    const std::uint32_t special = magnitude == infinity && infinity != nan_code ? 0x7f800000u : 0x7fc00000u;
    const std::uint32_t finite = exponent == 0 ? subnormal : normal;
    return Kokkos::bit_cast<float>((magnitude > most ? special : finite) | sign);
  }

  /// Code of `value` rounded to nearest, ties to even; magnitudes above the largest become it.
  KOKKOS_INLINE_FUNCTION static std::uint32_t nearest(float value) {
    const float x = in_spacings(value);
    return code_of(value, (x + 0x1p23f) - 0x1p23f);  // the sum has no fractional bits left
  }

  /// Code of `value` rounded up in magnitude when its fraction exceeds u, in [0, 1); else down.
  KOKKOS_INLINE_FUNCTION static std::uint32_t stochastic(float value, float u) {
    const float x = in_spacings(value);
    const auto whole = static_cast<float>(static_cast<std::int32_t>(x));
    return code_of(value, u < x - whole ? whole + 1 : whole);
  }

  /// True for codes of finite values.
  KOKKOS_INLINE_FUNCTION static bool is_finite(std::uint32_t code) { return (code & 0x7fu) <= most; }

 private:
  /// Biased exponent of the float format whose values are as far apart as the codes around `value`.
  KOKKOS_INLINE_FUNCTION static std::uint32_t exponent_of(float value) {
    constexpr std::uint32_t least = 127 + min_exponent, top = 127 + 16;  // above: saturated
    const std::uint32_t exponent = (Kokkos::bit_cast<std::uint32_t>(value) >> 23) & 0xffu;
    return exponent < least ? least : exponent > top ? top : exponent;
  }

  /// |value| in units of that distance: exact, below 2^(mantissa_bits + 1); far above it where the value saturates.
  KOKKOS_INLINE_FUNCTION static float in_spacings(float value) {
    const float inverse = Kokkos::bit_cast<float>((254u + mantissa_bits - exponent_of(value)) << 23);
    const float x = Kokkos::bit_cast<float>(Kokkos::bit_cast<std::uint32_t>(value) & 0x7fffffffu) * inverse;
    return x < 0x1p20f ? x : 0x1p20f;  // also what is no number
  }

  /// `units` a whole number of distances. One unit too many for its exponent carries into the next: the same code.
  KOKKOS_INLINE_FUNCTION static std::uint32_t code_of(float value, float units) {
    const std::uint32_t bits = Kokkos::bit_cast<std::uint32_t>(value), magnitude = bits & 0x7fffffffu;
    const std::uint32_t step = exponent_of(value) - static_cast<std::uint32_t>(127 + min_exponent);
    const std::uint32_t code = (step << mantissa_bits) + static_cast<std::uint32_t>(static_cast<std::int32_t>(units));
    const std::uint32_t finite = code < most ? code : most;
    const std::uint32_t result = magnitude < 0x7f800000u ? finite : magnitude == 0x7f800000u ? infinity : nan_code;
    return result | ((bits >> 24) & 0x80u);
  }
};

/// Largest 448, no infinity, one NaN of each sign (0x7F, 0xFF), smallest 2^-9.
using E4M3 = Float8<3, 7, 0x7e, 0x7f>;
/// Largest 57344, infinity 0x7C, NaN 0x7D to 0x7F, smallest 2^-16.
using E5M2 = Float8<2, 15, 0x7b, 0x7c>;

}  // namespace gradcomp::kernels
