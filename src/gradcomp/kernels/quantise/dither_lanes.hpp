#pragma once
// Stochastic rounding of 256 elements to levels of any spacing, on one warp.
//
// A rule (codecs.hpp) maps an element to a position: level + fraction. The position is rounded up if the fraction
// exceeds a uniform number u. At first, u has 16 bits; one Threefry draw gives eight of these. The sum of the position
// in units of 2^-16 and u has the right level unless one more unit would carry (once in 2^16). For such elements, the
// rest of the position is compared with 128 further bits, so that fractions far below 2^-16 are rounded up as often as
// they should be.
#include "gradcomp/kernels/lanes/source_rows.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"
#include "gradcomp/kernels/random/threefry.hpp"

namespace gradcomp::kernels {

/// Identifies the random numbers of a step, which differ between segments and ranks.
struct QuantiseStream {
  std::uint64_t seed = 0;
  std::int64_t step = 0;
  std::uint32_t rank = 0;
};

inline constexpr int draw_rows = 8;                               ///< one draw (128 bits) serves 8 rows, 16 bits each
inline constexpr index_t draw_elements = draw_rows * warp_lanes;  ///< 256

/// The value of a code. Zero decodes to +0.
KOKKOS_FORCEINLINE_FUNCTION float decoded_value(std::uint32_t code, float step) {
  const auto level = static_cast<std::int32_t>((code + 1) >> 1);
  return static_cast<float>((code & 1u) != 0 ? -level : level) * step;
}

/// The code of level q with the sign of a.
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t signed_code(std::int32_t q, float a) {
  const std::int32_t code = 2 * q + (Kokkos::bit_cast<std::int32_t>(a) >> 31);
  return static_cast<std::uint32_t>(code > 0 ? code : 0);
}

/// Level + fraction of an element: `fixed` in units of 2^-16, and the rest in [0, 1) of such a unit.
struct Position {
  std::int32_t fixed = 0;
  float rest = 0;
};

/// The level of a position for which 16 random bits did not decide.
KOKKOS_INLINE_FUNCTION std::int32_t decide_level(const Position& p, const Array4& key, index_t element) {
  const Array4 more = threefry4x32_12(key, stream_counter(element, random_stream::rounding, 1));
  const std::uint32_t words[4] = {more.x0, more.x1, more.x2, more.x3};
  float rest = p.rest;
  bool up = false;
  GRADCOMP_UNROLL
  for (const std::uint32_t u : words) {
    rest *= 0x1p32f;
    const auto digit = static_cast<std::uint32_t>(rest);
    if (digit != u) {
      up = digit > u;
      break;
    }
    rest -= static_cast<float>(digit);
  }
  return (p.fixed >> 16) + (up ? 1 : 0);
}

/// The rule of a row of 256 elements; most rules are those of all rows.
template <class Rule>
KOKKOS_FORCEINLINE_FUNCTION const Rule& rule_of_row(const Rule& rule, int) {
  return rule;
}

namespace detail {
/// The 16 bits of a row from the draw of its lane.
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t bits_of_row(const Array4& draw, int row) {
  const std::uint32_t words[4] = {draw.x0, draw.x1, draw.x2, draw.x3};
  return row < 4 ? words[row] & 0xffffu : words[row - 4] >> 16;
}

/// The codes that 16 bits decide. Returns whether there are others. `whole`: size is 256; a test of every lane would
/// take as many instructions as the rest.
template <bool whole, class Rules>
KOKKOS_FORCEINLINE_FUNCTION bool dither_rows(const Warp& warp, const float* a, index_t size, const Rules& rules,
                                             const Array4& key, const Array4& counter,
                                             Lanes<std::uint32_t> (&code)[draw_rows], Lanes<std::int32_t>& undecided) {
  warp.each([&](int l) {  // all in registers
    // no carry, because the number of the first element is a multiple of 256
    const Array4 draw =
        threefry4x32_12(key, {counter.x0 + static_cast<std::uint32_t>(l), counter.x1, counter.x2, counter.x3});
    undecided[l] = 0;
    GRADCOMP_UNROLL
    for (int row = 0; row < draw_rows; ++row) {
      const float x = whole || row * warp_lanes + l < size ? a[row * warp_lanes + l] : 0.0f;
      const auto& rule = rule_of_row(rules, row);
      const std::int32_t sum = rule.position(x).fixed + static_cast<std::int32_t>(bits_of_row(draw, row));
      undecided[l] |= (sum & 0xffff) == 0xffff ? 1 : 0;
      code[row][l] = rule.code(sum >> 16, x);
    }
  });
  return warp.max(undecided) != 0;
}
}  // namespace detail

/// The codes of up to 256 elements at `a`. The first of them is element number `element` (a multiple of 256) of its
/// segment. Lanes beyond `size` hold the code of 0.
template <class Rules>
KOKKOS_FORCEINLINE_FUNCTION void dither_group(const Warp& warp, const float* a, index_t size, const Rules& rules,
                                              const Array4& key, index_t element,
                                              Lanes<std::uint32_t> (&code)[draw_rows]) {
  Lanes<std::int32_t> undecided;
  const Array4 counter = stream_counter(element, random_stream::rounding, 0);
  const bool open = size >= draw_elements
                        ? detail::dither_rows<true>(warp, a, size, rules, key, counter, code, undecided)
                        : detail::dither_rows<false>(warp, a, size, rules, key, counter, code, undecided);
  if (!open) return;
  warp.each([&](int l) {
    if (undecided[l] == 0) return;
    const Array4 draw =
        threefry4x32_12(key, {counter.x0 + static_cast<std::uint32_t>(l), counter.x1, counter.x2, counter.x3});
    GRADCOMP_UNROLL
    for (int row = 0; row < draw_rows; ++row) {
      if (row * warp_lanes + l >= size) continue;
      const float x = a[row * warp_lanes + l];
      const auto& rule = rule_of_row(rules, row);
      const Position p = rule.position(x);
      if (((static_cast<std::uint32_t>(p.fixed) + detail::bits_of_row(draw, row)) & 0xffffu) != 0xffffu) continue;
      code[row][l] = rule.code(decide_level(p, key, element + row * warp_lanes + l), x);
    }
  });
}

/// Reports to the source what receivers decode: the values of the codes.
template <class Rules>
KOKKOS_FORCEINLINE_FUNCTION void report_group(const Warp& warp, const Source& source, index_t i, index_t size,
                                              const Rules& rules, const Lanes<std::uint32_t> (&code)[draw_rows]) {
  if (source.memory == nullptr) return;
  send_group<draw_rows>(warp, source, i, size,
                        [&](int l, float, int row) { return rule_of_row(rules, row).value(code[row][l]); });
}

}  // namespace gradcomp::kernels
