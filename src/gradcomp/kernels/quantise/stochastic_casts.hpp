#pragma once
// Stochastic rounding to the 16-bit formats of casts.hpp. The magnitude is rounded up with the probability of its
// fraction, so that the mean is the value. Only integer and correctly rounded float arithmetic is used, without
// branches.
#include "gradcomp/kernels/quantise/casts.hpp"

namespace gradcomp::kernels {

/// The code of `value`, which is finite and within +-largest; u is in [0, 1), a multiple of 2^-24. Results among the
/// half's subnormals are unbiased up to 2^-48.
KOKKOS_INLINE_FUNCTION std::uint16_t encode_stochastic(Half, float value, float u) {
  const std::uint32_t bits = Kokkos::bit_cast<std::uint32_t>(value), magnitude = bits & 0x7fffffffu;
  const std::uint32_t normal = (magnitude - (112u << 23) + static_cast<std::uint32_t>(u * 0x1p13f)) >> 13;
  const float spacings = Kokkos::bit_cast<float>(magnitude < (113u << 23) ? magnitude : 0u) * 0x1p24f;
  const auto whole = static_cast<std::uint32_t>(spacings);
  const std::uint32_t subnormal = whole + (u < spacings - static_cast<float>(whole) ? 1u : 0u);
  return static_cast<std::uint16_t>((magnitude < (113u << 23) ? subnormal : normal) | ((bits >> 16) & 0x8000u));
}
KOKKOS_INLINE_FUNCTION std::uint16_t encode_stochastic(Bfloat, float value, float u) {
  return static_cast<std::uint16_t>(
      (Kokkos::bit_cast<std::uint32_t>(value) + static_cast<std::uint32_t>(u * 0x1p16f)) >> 16);
}

}  // namespace gradcomp::kernels
