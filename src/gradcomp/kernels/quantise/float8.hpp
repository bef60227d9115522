#pragma once
// The two 8-bit floats of Micikevicius et al., "FP8 formats for deep learning" (arXiv 2209.05433), as specified in OFP8
// by the Open Compute Project. Conversions use only integer and exact float arithmetic, so that the bits are the same
// everywhere.
#include "gradcomp/core/types.hpp"

namespace gradcomp::kernels {

/// A sign, an exponent of 7 - mantissa_bits bits, and `mantissa_bits` bits. Codes with magnitudes above `max_code` are
/// not finite: `infinity_code` is infinite, and the others are NaN.
template <int mantissa_bits, int exponent_bias, std::uint32_t most, std::uint32_t infinity>
struct Float8 {
  static constexpr std::uint32_t max_code = most;           ///< of the largest finite value
  static constexpr std::uint32_t infinity_code = infinity;  ///< nan_code if the format has no infinity
  static constexpr std::uint32_t nan_code = 0x7f;
  static constexpr int min_exponent = 1 - exponent_bias;  ///< of normal values; subnormals share their spacing

  /// The value of a code, always exact.
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

  /// The code of `value`, rounded to nearest, ties to even. Finite magnitudes above the largest become the largest.
  KOKKOS_INLINE_FUNCTION static std::uint32_t nearest(float value) {
    const float x = in_spacings(value);
    return code_of(value, (x + 0x1p23f) - 0x1p23f);  // the sum has no fractional bits left
  }

  /// The code of `value`, rounded up in magnitude if its fraction exceeds u, which is in [0, 1); otherwise down. If u
  /// is a multiple of 2^-24, the probability of rounding up is too large by less than 2^-24, and the mean magnitude
  /// exceeds |value| by less than 2^-24 of the distance between codes.
  KOKKOS_INLINE_FUNCTION static std::uint32_t stochastic(float value, float u) {
    const float x = in_spacings(value);
    const auto whole = static_cast<float>(static_cast<std::int32_t>(x));
    return code_of(value, u < x - whole ? whole + 1 : whole);
  }

  /// Whether a code is that of a finite value.
  KOKKOS_INLINE_FUNCTION static bool is_finite(std::uint32_t code) { return (code & 0x7fu) <= most; }

 private:
  /// The biased float exponent of `value`, limited to the range in which codes are spaced by exponents.
  KOKKOS_INLINE_FUNCTION static std::uint32_t exponent_of(float value) {
    constexpr std::uint32_t least = 127 + min_exponent, top = 127 + 16;  // above: saturated
    const std::uint32_t exponent = (Kokkos::bit_cast<std::uint32_t>(value) >> 23) & 0xffu;
    return exponent < least ? least : exponent > top ? top : exponent;
  }

  /// |value| in units of the distance between codes around it. It is exact, and below 2^(mantissa_bits + 1) unless the
  /// value saturates.
  KOKKOS_INLINE_FUNCTION static float in_spacings(float value) {
    const float inverse = Kokkos::bit_cast<float>((254u + mantissa_bits - exponent_of(value)) << 23);
    const float x = Kokkos::bit_cast<float>(Kokkos::bit_cast<std::uint32_t>(value) & 0x7fffffffu) * inverse;
    return x < 0x1p20f ? x : 0x1p20f;  // also for NaN
  }

  /// The code of `units`, a whole number of such distances. If rounding up leaves the range of the exponent, the code
  /// carries into the next exponent, as it must.
  KOKKOS_INLINE_FUNCTION static std::uint32_t code_of(float value, float units) {
    const std::uint32_t bits = Kokkos::bit_cast<std::uint32_t>(value), magnitude = bits & 0x7fffffffu;
    const std::uint32_t step = exponent_of(value) - static_cast<std::uint32_t>(127 + min_exponent);
    const std::uint32_t code = (step << mantissa_bits) + static_cast<std::uint32_t>(static_cast<std::int32_t>(units));
    const std::uint32_t finite = code < most ? code : most;
    const std::uint32_t result = magnitude < 0x7f800000u ? finite : magnitude == 0x7f800000u ? infinity : nan_code;
    return result | ((bits >> 24) & 0x80u);
  }
};

/// The format with the largest value 448, the smallest 2^-9, no infinity, and one NaN of each sign (0x7F, 0xFF).
using E4M3 = Float8<3, 7, 0x7e, 0x7f>;
/// The format with the largest value 57344, the smallest 2^-16, infinity 0x7C, and NaN 0x7D to 0x7F.
using E5M2 = Float8<2, 15, 0x7b, 0x7c>;

}  // namespace gradcomp::kernels
