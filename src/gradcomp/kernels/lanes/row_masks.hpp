#pragma once
// Comparisons of a row of 32 floats with a bound, as a mask. On x86 they use its instructions for masks, because
// compilers turn neither a ballot() nor a loop with `or` into these.
#if defined(__AVX2__) && !defined(__CUDACC__) && !defined(__HIPCC__) && !defined(GRADCOMP_LANES)
#define GRADCOMP_X86_MASKS
#include <immintrin.h>
#endif

#include "gradcomp/kernels/lanes/lanes.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"

namespace gradcomp::kernels {

/// Bit l is set if magnitude(x[l]) > low.
template <class AnyWarp>
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t ballot_above(const AnyWarp& warp, const float* x, std::int32_t low) {
  return warp.ballot([&](int l) { return magnitude(x[l]) > low; });
}

/// The same bits, found in the fastest way.
template <class AnyWarp>
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t above_mask([[maybe_unused]] const AnyWarp& warp, const float* x,
                                                     std::int32_t low) {
#if defined(GRADCOMP_X86_MASKS) && defined(__AVX512F__)
  const __m512i magnitudes = _mm512_set1_epi32(0x7fffffff), limit = _mm512_set1_epi32(low);
  const auto half = [&](const float* at) {
    return _mm512_cmpgt_epi32_mask(_mm512_and_si512(_mm512_loadu_si512(at), magnitudes), limit);
  };
  return half(x) | static_cast<std::uint32_t>(half(x + 16)) << 16;
#elif defined(GRADCOMP_X86_MASKS)
  const __m256i magnitudes = _mm256_set1_epi32(0x7fffffff), limit = _mm256_set1_epi32(low);
  const auto quarter = [&](const float* at) {
    const __m256i bits = _mm256_and_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)), magnitudes);
    return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(bits, limit))));
  };
  return quarter(x) | quarter(x + 8) << 8 | quarter(x + 16) << 16 | quarter(x + 24) << 24;
#else
  return ballot_above(warp, x, low);
#endif
}

/// Bit l is set if x[l] < bound, and never for a NaN.
template <class AnyWarp>
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t below_mask([[maybe_unused]] const AnyWarp& warp, const float* x,
                                                     float bound) {
#if defined(GRADCOMP_X86_MASKS) && defined(__AVX512F__)
  const __m512 limit = _mm512_set1_ps(bound);
  return _mm512_cmp_ps_mask(_mm512_loadu_ps(x), limit, _CMP_LT_OQ) |
         static_cast<std::uint32_t>(_mm512_cmp_ps_mask(_mm512_loadu_ps(x + 16), limit, _CMP_LT_OQ)) << 16;
#elif defined(GRADCOMP_X86_MASKS)
  const __m256 limit = _mm256_set1_ps(bound);
  const auto quarter = [&](const float* at) {
    return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(at), limit, _CMP_LT_OQ)));
  };
  return quarter(x) | quarter(x + 8) << 8 | quarter(x + 16) << 16 | quarter(x + 24) << 24;
#else
  return warp.ballot([&](int l) { return x[l] < bound; });
#endif
}

}  // namespace gradcomp::kernels
