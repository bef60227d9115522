#pragma once
// Conversions of rows to and from 16-bit floats. If a host has instructions for a format, they are used: they give the
// same bits as casts.hpp in a third of the time.
#if defined(__F16C__) && defined(__GNUC__) && !defined(__CUDACC__) && !defined(__HIPCC__) && !defined(GRADCOMP_LANES)
#define GRADCOMP_X86_CASTS
#include <immintrin.h>
#endif

#include "gradcomp/kernels/lanes/lanes.hpp"
#include "gradcomp/kernels/quantise/casts.hpp"

namespace gradcomp::kernels {

/// codes[l] = Format::encode_sent(x[l]) for all lanes.
template <class Format>
KOKKOS_FORCEINLINE_FUNCTION void encode_row(const Warp& warp, const Lanes<float>& x, std::uint16_t* codes) {
#if defined(GRADCOMP_X86_CASTS)
  if constexpr (std::is_same_v<Format, Half>) {
#if defined(__AVX512F__)
    for (int l = 0; l < warp_lanes; l += 16) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(codes + l),
                          _mm512_cvtps_ph(_mm512_loadu_ps(&x[l]), _MM_FROUND_TO_NEAREST_INT));
    }
#else
    for (int l = 0; l < warp_lanes; l += 8) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(codes + l),
                       _mm256_cvtps_ph(_mm256_loadu_ps(&x[l]), _MM_FROUND_TO_NEAREST_INT));
    }
#endif
    return;
  }
#endif
  warp.each([&](int l) { codes[l] = Format::encode_sent(x[l]); });
}

/// x[l] = Format::decode(codes[l]) for all lanes.
template <class Format>
KOKKOS_FORCEINLINE_FUNCTION void decode_row(const Warp& warp, const std::uint16_t* codes, Lanes<float>& x) {
#if defined(GRADCOMP_X86_CASTS)
  if constexpr (std::is_same_v<Format, Half>) {
#if defined(__AVX512F__)
    for (int l = 0; l < warp_lanes; l += 16) {
      _mm512_storeu_ps(&x[l], _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + l))));
    }
#else
    for (int l = 0; l < warp_lanes; l += 8) {
      _mm256_storeu_ps(&x[l], _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(codes + l))));
    }
#endif
    return;
  }
#endif
  warp.each([&](int l) { x[l] = Format::decode(codes[l]); });
}

}  // namespace gradcomp::kernels
