#pragma once
// Levels of elementwise quantisers. A codec says how elements become codes, and codes become values. Codec::rule(own,
// sent) does this for one group. `own` are the scales with which the sender measures
// positions; `sent` are those in the payload, with which receivers decode. Both are the same unless a shared or a
// shrunken scale is sent.
//   rule.position(a): level + fraction     rule.code(level, a): the code     rule.value(code): the decoded value
// Every valid() code with a good() scale decodes to a finite value.
#include "gradcomp/kernels/quantise/dither_lanes.hpp"
#include "gradcomp/kernels/quantise/groups.hpp"

namespace gradcomp::kernels {

/// Whether a norm in a payload is allowed. Senders write 0 or norms within [smallest_norm, largest_norm].
KOKKOS_INLINE_FUNCTION bool is_norm(float v) { return v >= 0 && v <= largest_norm; }
/// A norm that is at least `largest`, the largest magnitude of its group, and inside the bounds.
KOKKOS_INLINE_FUNCTION float bounded_norm(float norm, float largest) {
  if (largest == 0) return 0;
  const float v = norm > largest ? norm : largest;
  return v < smallest_norm ? smallest_norm : v > largest_norm ? largest_norm : v;
}

/// Bits of the codes 0 .. 2 levels: ceil(log2(2 levels + 1)).
constexpr int signed_code_bits(int levels) {
  int bits = 1;
  while ((1 << bits) < 2 * levels + 1) ++bits;
  return bits;
}

/// Levels 0, v/s, ..., v of |a|. Code 0 is zero, 2q is +q, and 2q - 1 is -q. One word: v. |a| above the sender's own v
/// counts as v.
struct LinearCodec {
  static constexpr int words = 1;
  int levels = 1;  ///< s, 1..127; up to 32767 if codes are levels (level_codes.hpp, packed_levels.hpp)

  KOKKOS_INLINE_FUNCTION bool valid(std::uint32_t code) const {
    return code <= 2u * static_cast<std::uint32_t>(levels);
  }
  KOKKOS_INLINE_FUNCTION bool good(const float* sent) const { return is_norm(sent[0]); }

  struct Rule {
    float scale, limit, top, step;  ///< 2^16 s / v; own v and its position; the value of one level

    KOKKOS_FORCEINLINE_FUNCTION Position position(float a) const {
      const float size = Kokkos::bit_cast<float>(magnitude(a));
      const float x = size * scale;
      const float bounded = x < top && size < limit ? x : top;  // NaN: top
      const auto fixed = static_cast<std::int32_t>(bounded);
      return {fixed, bounded - static_cast<float>(fixed)};
    }
    KOKKOS_FORCEINLINE_FUNCTION std::uint32_t code(std::int32_t level, float a) const { return signed_code(level, a); }
    KOKKOS_FORCEINLINE_FUNCTION float value(std::uint32_t code) const { return decoded_value(code, step); }
  };
  /// `shared`: the norm with which positions are measured; own[0] if every sender has its own.
  KOKKOS_FORCEINLINE_FUNCTION Rule rule(const float* own, const float* sent, float shared) const {
    const float all = 0x1p16f * static_cast<float>(levels), step = shared / static_cast<float>(levels);
    const float scale = shared > 0 ? 0x1p16f / step : 0.0f;
    const float top = shared > 0 ? (own[0] < shared ? own[0] * scale : all) : 0.0f;
    return {scale, own[0], top < all ? top : all, sent[0] / static_cast<float>(levels)};
  }
  KOKKOS_FORCEINLINE_FUNCTION Rule rule(const float* own, const float* sent) const { return rule(own, sent, own[0]); }
};

/// Levels low + (high - low) q / s for q = 0 .. s; the code is q. Two words: low, high.
struct UniformCodec {
  static constexpr int words = 2;
  int levels = 15;       ///< s, 1..255
  bool nearest = false;  ///< rounds to the nearest level instead of stochastically

  KOKKOS_INLINE_FUNCTION bool valid(std::uint32_t code) const { return code <= static_cast<std::uint32_t>(levels); }
  KOKKOS_INLINE_FUNCTION bool good(const float* sent) const {
    return Source::is_finite(sent[0]) && Source::is_finite(sent[1]) && sent[0] <= sent[1];
  }

  struct Rule {
    float half_low, scale, own_high, top;  ///< for positions: (a / 2 - low / 2) 2^17 s / (high - low)
    float low, high, levels;
    bool nearest;

    KOKKOS_FORCEINLINE_FUNCTION Position position(float a) const {
      const float x = (0.5f * a - half_low) * scale;  // with halves, the difference of two large numbers stays finite
      const float bounded = a < own_high && x < top ? x > 0 ? x : 0.0f : top;
      const auto fixed = static_cast<std::int32_t>(bounded);
      if (nearest) return {(fixed + 0x8000) & ~0xffff, 0};
      return {fixed, bounded - static_cast<float>(fixed)};
    }
    KOKKOS_FORCEINLINE_FUNCTION std::uint32_t code(std::int32_t level, float) const {
      return static_cast<std::uint32_t>(level);
    }
    KOKKOS_FORCEINLINE_FUNCTION float value(std::uint32_t code) const {
      const float t = static_cast<float>(code) / levels;
      return low * (1 - t) + high * t;  // a convex combination cannot overflow
    }
  };
  KOKKOS_FORCEINLINE_FUNCTION Rule rule(const float* own, const float* sent) const {
    const auto s = static_cast<float>(levels);
    const float half_step = 0.5f * own[1] / s - 0.5f * own[0] / s;
    const bool flat = !(own[1] > own[0]);
    const float scale = flat ? 0.0f : 0x1p16f / half_step, top = flat ? 0.0f : 0x1p16f * s;
    return {0.5f * own[0], scale, own[1], top, sent[0], sent[1], s, nearest};
  }
};

/// Powers of two in the float format itself. Level e > 0 means 2^(e + offset - 127), and level 0 means zero. Below the
/// smallest power, the position is linear down to zero; above the largest, it saturates.
struct PowerCodec {
  static constexpr int words = 0;
  int offset = 18;   ///< levels are biased float exponents minus this
  int levels = 127;  ///< largest e
  int bits = 8;      ///< sign and e

  KOKKOS_INLINE_FUNCTION bool valid(std::uint32_t code) const {
    return (code & ((1u << (bits - 1)) - 1u)) <= static_cast<std::uint32_t>(levels);
  }
  KOKKOS_INLINE_FUNCTION bool good(const float*) const { return true; }

  struct Rule {
    std::int32_t offset, levels;
    int exponent_bits;
    float below, shrink;  ///< 2^16 / smallest power in two factors

    KOKKOS_FORCEINLINE_FUNCTION Position position(float a) const {
      const std::int32_t bits = magnitude(a), from = bits - offset * (1 << 23);
      // with offset 0, denormals are multiples of 2^-149, and the bits of the format are linear down to zero
      const float small = Kokkos::bit_cast<float>(bits) * below * shrink;
      const bool normal = offset == 0 || bits >= (offset + 1) * (1 << 23);
      const std::int32_t linear = normal ? 0 : static_cast<std::int32_t>(small);
      const std::int32_t fixed = normal ? from >> 7 : linear;
      const float rest = normal ? static_cast<float>(from & 127) * 0x1p-7f : small - static_cast<float>(linear);
      const bool saturated = fixed >= levels * 65536;
      return {saturated ? levels * 65536 : fixed, saturated ? 0.0f : rest};
    }
    /// The level, with the sign in the bit above; zero has no sign.
    KOKKOS_FORCEINLINE_FUNCTION std::uint32_t code(std::int32_t level, float a) const {
      const std::uint32_t sign = Kokkos::bit_cast<std::uint32_t>(a) >> 31;
      return level == 0 ? 0u : (sign << exponent_bits) | static_cast<std::uint32_t>(level);
    }
    KOKKOS_FORCEINLINE_FUNCTION float value(std::uint32_t code) const {
      const std::uint32_t level = code & ((1u << exponent_bits) - 1u);
      const std::uint32_t exponent = level == 0 ? 0u : level + static_cast<std::uint32_t>(offset);
      return Kokkos::bit_cast<float>((exponent << 23) | ((level == 0 ? 0u : code >> exponent_bits) << 31));
    }
  };
  KOKKOS_FORCEINLINE_FUNCTION Rule rule(const float*, const float*) const {
    // 2^16 / 2^(1 + offset - 127) = 2^(142 - offset), written as 2^100 times the rest
    const auto rest = static_cast<std::uint32_t>(142 - offset - 100 + 127);
    return {offset, levels, bits - 1, 0x1p100f, Kokkos::bit_cast<float>(rest << 23)};
  }
};

/// Levels 0, v 2^(1-k), ..., v/2, v of |a|. Code 0 is zero, 2q is +v 2^(q-k), and 2q - 1 is its negative. One word: v.
struct PowerDitherCodec {
  static constexpr int words = 1;
  int levels = 7;  ///< k, 1..127

  KOKKOS_INLINE_FUNCTION bool valid(std::uint32_t code) const {
    return code <= 2u * static_cast<std::uint32_t>(levels);
  }
  KOKKOS_INLINE_FUNCTION bool good(const float* sent) const { return is_norm(sent[0]); }

  struct Rule {
    std::int32_t levels;
    float own, sent;
    float below;  ///< 2^(k - 1); times `widen`, it is 2^16 / smallest level of a / v
    float widen;  ///< 2^16; a factor of its own, because the product would overflow for large k

    KOKKOS_FORCEINLINE_FUNCTION Position position(float a) const {
      const float size = Kokkos::bit_cast<float>(magnitude(a));
      const float ratio = size < own ? size / own : own > 0 ? 1.0f : 0.0f;  // divided, as 1 / v may be out of range
      const std::int32_t from = magnitude(ratio) - (127 - levels) * (1 << 23);
      const bool power = from >= (1 << 23);
      const float small = ratio * below * widen;
      const std::int32_t linear = power ? 0 : static_cast<std::int32_t>(small);
      return {power ? from >> 7 : linear,
              power ? static_cast<float>(from & 127) * 0x1p-7f : small - static_cast<float>(linear)};
    }
    KOKKOS_FORCEINLINE_FUNCTION std::uint32_t code(std::int32_t level, float a) const { return signed_code(level, a); }
    KOKKOS_FORCEINLINE_FUNCTION float value(std::uint32_t code) const {
      const auto level = static_cast<std::int32_t>((code + 1) >> 1);
      // 2^(level - k) is at least 2^-126
      const float power = Kokkos::bit_cast<float>(static_cast<std::uint32_t>(127 + level - levels) << 23);
      return level == 0 ? 0.0f : ((code & 1u) != 0 ? -sent : sent) * power;
    }
  };
  KOKKOS_FORCEINLINE_FUNCTION Rule rule(const float* own, const float* sent) const {
    const auto shift = static_cast<std::uint32_t>(levels - 1 + 127);
    return {levels, own[0], sent[0], Kokkos::bit_cast<float>(shift << 23), 0x1p16f};
  }
};

}  // namespace gradcomp::kernels
