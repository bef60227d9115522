#pragma once
// The steps of kernels/quantise/quantise.cpp on one warp: the norm of a group, the rounding
// of 256 elements, and the update of the memory.
#include "gradcomp/core/source.hpp"
#include "gradcomp/kernels/lanes/source_rows.hpp"
#include "gradcomp/kernels/quantise/quantise.hpp"

namespace gradcomp::kernels {

inline constexpr int draw_rows = 8;                               ///< one draw (128 bits) serves 8 rows, 16 bits each
inline constexpr index_t draw_elements = draw_rows * warp_lanes;  ///< 256
inline constexpr index_t smallest_group = 64;

inline constexpr int draw_groups = draw_elements / smallest_group;

/// The steps of the rows of 256 elements: one for all rows, or one per group if groups are smaller.
struct RowSteps {
  float step[draw_groups] = {};
  float scale[draw_groups] = {};  ///< 2^16 / step, or 0 for a group of zeros
  int shift;                      ///< row >> shift is the group of a row

  KOKKOS_FORCEINLINE_FUNCTION explicit RowSteps(index_t group)
      : shift(group >= draw_elements       ? 3
              : group == draw_elements / 2 ? 2
                                           : 1) {}
  /// values[row >> shift], on a device from registers if `row` is a constant.
  KOKKOS_FORCEINLINE_FUNCTION float of_row(const float (&values)[draw_groups], int row) const {
    if constexpr (!lanes_are_threads) return values[row >> shift];
    return shift == 3 ? values[0] : shift == 2 ? values[row >> 2] : values[row >> 1];
  }
  /// `measured`: the step in which a is measured; `sent`: that of receivers.
  KOKKOS_FORCEINLINE_FUNCTION void set(int group, float measured, float sent) {
    GRADCOMP_UNROLL
    for (int g = 0; g < draw_groups; ++g) {  // indices that are constants, so that the arrays stay in registers
      step[g] = g == group ? sent : step[g];
      scale[g] = g != group ? scale[g] : measured > 0 ? 0x1p16f / measured : 0.0f;
    }
  }
};

/// If the largest magnitude is in this range, the squares can be summed in float without overflow, and those that
/// underflow do not matter.
inline constexpr float float_sum_low = 0x1p-40f, float_sum_high = 0x1p+55f;

/// The L2 norm of elements with magnitudes up to `largest`; it is at least `largest`. The sum is formed in double if
/// float would overflow or lose all bits. This depends only on the data, so that it is the same on every device.
KOKKOS_FORCEINLINE_FUNCTION float l2_norm(const Warp& warp, const float* a, index_t size, float largest,
                                          float squares) {
  double sum = static_cast<double>(squares);
  if (largest < float_sum_low || largest > float_sum_high) {
    Lanes<double> exact;
    warp.each([&](int l) {
      exact[l] = 0;
      for (index_t i = l; i < size; i += warp_lanes) exact[l] += static_cast<double>(a[i]) * static_cast<double>(a[i]);
    });
    sum = warp.sum(exact);
  }
  const auto norm = static_cast<float>(Kokkos::sqrt(sum));
  return norm > largest ? norm : largest;
}

/// The first pass over elements [i, i + size). Returns their norm, within [smallest_norm, largest_norm], or 0 if all
/// are zero.
KOKKOS_FORCEINLINE_FUNCTION float group_norm(const Warp& warp, const Source& source, index_t i, index_t size,
                                             bool max_norm, Lanes<std::int32_t>& bad) {
  Lanes<float> squares;
  Lanes<std::int32_t> most;
  warp.each([&](int l) {
    squares[l] = 0;
    most[l] = 0;
  });
  accumulate_rows(warp, source, i, size, bad, [&](int l, float a, int) {
    const std::int32_t bits = magnitude(a);
    most[l] = bits > most[l] ? bits : most[l];
    squares[l] += a * a;
  });
  const float largest = Kokkos::bit_cast<float>(warp.max(most));
  if (largest == 0) return 0;
  const float norm = max_norm ? largest : l2_norm(warp, source.accumulated() + i, size, largest, warp.sum(squares));
  return norm < smallest_norm ? smallest_norm : norm > largest_norm ? largest_norm : norm;
}

/// The value of a code. Zero decodes to +0.
KOKKOS_FORCEINLINE_FUNCTION float decoded_value(std::uint32_t code, float step) {
  const auto level = static_cast<std::int32_t>((code + 1) >> 1);
  return static_cast<float>((code & 1u) != 0 ? -level : level) * step;
}

/// |a| / step in units of 2^-16, limited to level s: `scale` = 2^16 / step, `limit` = 2^16 s. If the product is NaN,
/// the result is `limit`.
KOKKOS_FORCEINLINE_FUNCTION float scaled_magnitude(float a, float scale, float limit) {
  const float x = Kokkos::bit_cast<float>(magnitude(a)) * scale;
  return x < limit ? x : limit;
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

/// The codes of up to 256 elements at `a`; lanes beyond `size` hold 0. x = |a| / step is rounded up if its fraction
/// exceeds a uniform number u. At first, u has 16 bits: (floor(2^16 x) + u) >> 16 is right unless one more unit would
/// carry (probability 2^-16). For such elements, the rest of x is compared with 128 further bits, so that fractions far
/// below 2^-16 are rounded up as often as they should be.
KOKKOS_FORCEINLINE_FUNCTION void round_group(const Warp& warp, const float* a, index_t size, const RowSteps& steps,
                                             int levels, const Array4& key, index_t element,
                                             Lanes<std::uint32_t> (&code)[draw_rows]) {
  const float limit = static_cast<float>(levels) * 0x1p16f;
  Lanes<std::int32_t> undecided;
  const Array4 counter = stream_counter(element, random_stream::rounding, 0);
  const bool whole = size >= draw_elements;
  warp.each([&](int l) {  // all in registers
    // no carry, because `element` is a multiple of 256
    const Array4 drawn =
        threefry4x32_12(key, {counter.x0 + static_cast<std::uint32_t>(l), counter.x1, counter.x2, counter.x3});
    const std::uint32_t draw[4] = {drawn.x0, drawn.x1, drawn.x2, drawn.x3};
    undecided[l] = 0;
    GRADCOMP_UNROLL
    for (int row = 0; row < draw_rows; ++row) {
      const float x = whole || row * warp_lanes + l < size ? a[row * warp_lanes + l] : 0.0f;
      const std::uint32_t u = row < 4 ? draw[row] & 0xffffu : draw[row - 4] >> 16;
      const auto fixed = static_cast<std::int32_t>(scaled_magnitude(x, steps.of_row(steps.scale, row), limit));
      const std::int32_t sum = fixed + static_cast<std::int32_t>(u);
      undecided[l] |= (sum & 0xffff) == 0xffff ? 1 : 0;
      code[row][l] = signed_code(sum >> 16, x);
    }
  });
  if (warp.max(undecided) == 0) return;
  warp.each([&](int l) {
    if (undecided[l] == 0) return;
    const Array4 draw =
        threefry4x32_12(key, {counter.x0 + static_cast<std::uint32_t>(l), counter.x1, counter.x2, counter.x3});
    const std::uint32_t words[4] = {draw.x0, draw.x1, draw.x2, draw.x3};
    GRADCOMP_UNROLL
    for (int row = 0; row < draw_rows; ++row) {
      if (row * warp_lanes + l >= size) continue;
      const float value = a[row * warp_lanes + l];
      const float x = scaled_magnitude(value, steps.of_row(steps.scale, row), limit);
      const std::uint32_t u = row < 4 ? words[row] & 0xffffu : words[row - 4] >> 16;
      const auto fixed = static_cast<std::int32_t>(x);
      if (((static_cast<std::uint32_t>(fixed) + u) & 0xffffu) != 0xffffu) continue;
      const Position position{fixed, x - static_cast<float>(fixed)};  // exact
      code[row][l] = signed_code(decide_level(position, key, element + row * warp_lanes + l), value);
    }
  });
}

/// Reports to the source what receivers decode.
KOKKOS_FORCEINLINE_FUNCTION void leave_group(const Warp& warp, const Source& source, index_t i, index_t size,
                                             const RowSteps& steps, const Lanes<std::uint32_t> (&code)[draw_rows]) {
  if (source.memory == nullptr) return;
  send_rows(warp, source, i, size,
            [&](int l, float, int row) { return decoded_value(code[row][l], steps.of_row(steps.step, row)); });
}

}  // namespace gradcomp::kernels
