#pragma once
// Threefry4x32: a counter-based random generator (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as
// 1, 2, 3", SC'11). It uses only additions, rotations and exclusive-ors. So loops over lanes vectorise on hosts (with
// products of 32 x 32 -> 64 bits, as in Philox, they do not), and every device gives the same bits. The tests compare
// it with the known answers of Random123.
#include "gradcomp/core/types.hpp"

namespace gradcomp {

/// Four 32-bit words: a key, a counter or a draw.
struct Array4 {
  std::uint32_t x0 = 0, x1 = 0, x2 = 0, x3 = 0;
};

/// Independent uses of random numbers with one (seed, segment, step, rank). They differ in word 2 of the counter.
namespace random_stream {
inline constexpr std::uint32_t rounding = 0;   ///< stochastic rounding
inline constexpr std::uint32_t selection = 1;  ///< random-k
inline constexpr std::uint32_t low_rank = 2;   ///< starting factors of PowerSGD
inline constexpr std::uint32_t sampling = 3;   ///< stratified samples for thresholds
inline constexpr std::uint32_t threshold = 4;  ///< the place where the sampling of a threshold starts
inline constexpr std::uint32_t sketch = 5;     ///< places and signs of a count sketch
inline constexpr std::uint32_t rotation = 6;   ///< signs of a randomised Hadamard transform
}  // namespace random_stream

/// Used instead of a rank for streams that must be equal on all ranks (random-k, low rank, sketch).
inline constexpr std::uint32_t every_rank = 0xffffffffu;

namespace detail {

KOKKOS_INLINE_FUNCTION constexpr std::uint32_t rotate_left(std::uint32_t x, int bits) {
  return (x << bits) | (x >> (32 - bits));
}

/// Two MIX functions of one round: (a, b) and (c, d).
KOKKOS_INLINE_FUNCTION constexpr void threefry_mix(std::uint32_t& a, std::uint32_t& b, int rotate_b, std::uint32_t& c,
                                                   std::uint32_t& d, int rotate_d) {
  a += b;
  b = rotate_left(b, rotate_b) ^ a;
  c += d;
  d = rotate_left(d, rotate_d) ^ c;
}

/// Round number `Round` (from 0) and, after every fourth, the injection of the key. The rotations are those of Skein
/// reduced to 32 bits (Random123, threefry.h).
template <int Round>
KOKKOS_INLINE_FUNCTION constexpr void threefry_round(Array4& x, const std::uint32_t (&key)[5]) {
  constexpr int rotate_b[8] = {10, 11, 13, 23, 6, 17, 25, 18};
  constexpr int rotate_d[8] = {26, 21, 27, 5, 20, 11, 10, 20};
  if constexpr (Round % 2 == 0) {
    threefry_mix(x.x0, x.x1, rotate_b[Round % 8], x.x2, x.x3, rotate_d[Round % 8]);
  } else {
    threefry_mix(x.x0, x.x3, rotate_b[Round % 8], x.x2, x.x1, rotate_d[Round % 8]);
  }
  if constexpr (Round % 4 == 3) {
    constexpr int injection = Round / 4 + 1;
    x.x0 += key[injection % 5];
    x.x1 += key[(injection + 1) % 5];
    x.x2 += key[(injection + 2) % 5];
    x.x3 += key[(injection + 3) % 5] + static_cast<std::uint32_t>(injection);
  }
}

template <int Round, int Rounds>
KOKKOS_INLINE_FUNCTION constexpr void threefry_rounds(Array4& x, const std::uint32_t (&key)[5]) {
  if constexpr (Round < Rounds) {
    threefry_round<Round>(x, key);
    threefry_rounds<Round + 1, Rounds>(x, key);
  }
}

/// Spreads all 64 bits of x over all 64 bits of the result (Steele, Lea, Flood, OOPSLA'14: the SplitMix64 finaliser).
KOKKOS_INLINE_FUNCTION constexpr std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

}  // namespace detail

/// Threefry4x32 with `Rounds` rounds, a template argument because the amounts of rotations must be constants.
template <int Rounds>
KOKKOS_INLINE_FUNCTION constexpr Array4 threefry4x32(const Array4& key, const Array4& counter) {
  const std::uint32_t schedule[5] = {key.x0, key.x1, key.x2, key.x3, 0x1bd11bdau ^ key.x0 ^ key.x1 ^ key.x2 ^ key.x3};
  Array4 x{counter.x0 + schedule[0], counter.x1 + schedule[1], counter.x2 + schedule[2], counter.x3 + schedule[3]};
  detail::threefry_rounds<0, Rounds>(x, schedule);
  return x;
}

/// The generator that this library uses: 12 rounds.
KOKKOS_INLINE_FUNCTION constexpr Array4 threefry4x32_12(const Array4& key, const Array4& counter) {
  return threefry4x32<12>(key, counter);
}

/// The key of a stream: 64 + 64 + 64 + 32 bits folded into 128.
///   words 0, 1 = mix64(seed) ^ segment     word 2 = low(step)     word 3 = high(step) ^ rank
/// With one seed, two keys are equal only if their segments, low(step) and words 3 are equal, which does not happen
/// within 2^32 steps. The mixing prevents neighbouring seeds from sharing keys through the segment number.
KOKKOS_INLINE_FUNCTION constexpr Array4 stream_key(std::uint64_t seed, index_t segment, std::int64_t step,
                                                   std::uint32_t rank) {
  const std::uint64_t s = detail::mix64(seed + 0x9e3779b97f4a7c15ull);
  const auto id = static_cast<std::uint64_t>(segment);
  const auto t = static_cast<std::uint64_t>(step);
  return {static_cast<std::uint32_t>(s ^ id), static_cast<std::uint32_t>((s ^ id) >> 32), static_cast<std::uint32_t>(t),
          static_cast<std::uint32_t>(t >> 32) ^ rank};
}

/// The counter of one draw for `element` (its index inside the segment).
KOKKOS_INLINE_FUNCTION constexpr Array4 stream_counter(index_t element, std::uint32_t stream, std::uint32_t draw) {
  const auto e = static_cast<std::uint64_t>(element);
  return {static_cast<std::uint32_t>(e), static_cast<std::uint32_t>(e >> 32), stream, draw};
}

/// The 24 high bits of `word` as a number in [0, 1), which is exact in float.
KOKKOS_INLINE_FUNCTION constexpr float uniform24(std::uint32_t word) {
  return static_cast<float>(word >> 8) * 0x1p-24f;
}

}  // namespace gradcomp
