#pragma once
// Stochastic rounding of 256 elements to levels of any spacing, on one warp. It generalises round_group() in
// quantise_lanes.hpp, and uses the same random numbers.
//
// A rule (codecs.hpp) maps an element to a position: level + fraction. The position is rounded up if the fraction
// exceeds a uniform number of 16 bits; one Threefry draw gives eight of these. If 16 bits do not decide (once in 2^16),
// 128 further bits are compared with the rest of the fraction, so that no probability is rounded.
#include "gradcomp/kernels/lanes/source_rows.hpp"
#include "gradcomp/kernels/quantise/quantise.hpp"
#include "gradcomp/kernels/quantise/quantise_lanes.hpp"

namespace gradcomp::kernels {

/// The codes of up to 256 elements at `a`. The first of them is element number `element` (a multiple of 256) of its
/// segment. Lanes beyond `size` hold the code of 0.
template <class Rule>
KOKKOS_FORCEINLINE_FUNCTION void dither_group(const Warp& warp, const float* a, index_t size, const Rule& rule,
                                              const Array4& key, index_t element,
                                              Lanes<std::uint32_t> (&code)[draw_rows]) {
  Lanes<std::int32_t> undecided;
  const Array4 counter = stream_counter(element, random_stream::rounding, 0);
  const bool whole = size >= draw_elements;
  prefetch_rows<draw_rows>(a);
  warp.each([&](int l) {  // all in registers
    const Array4 drawn =
        threefry4x32_12(key, {counter.x0 + static_cast<std::uint32_t>(l), counter.x1, counter.x2, counter.x3});
    const std::uint32_t draw[4] = {drawn.x0, drawn.x1, drawn.x2, drawn.x3};
    undecided[l] = 0;
    GRADCOMP_UNROLL
    for (int row = 0; row < draw_rows; ++row) {
      const float x = whole || row * warp_lanes + l < size ? a[row * warp_lanes + l] : 0.0f;
      const std::uint32_t u = row < 4 ? draw[row] & 0xffffu : draw[row - 4] >> 16;
      const std::int32_t sum = rule.position(x).fixed + static_cast<std::int32_t>(u);
      undecided[l] |= (sum & 0xffff) == 0xffff ? 1 : 0;
      code[row][l] = rule.code(sum >> 16, x);
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
      const Position p = rule.position(value);
      const std::uint32_t u = row < 4 ? words[row] & 0xffffu : words[row - 4] >> 16;
      if (((static_cast<std::uint32_t>(p.fixed) + u) & 0xffffu) != 0xffffu) continue;
      code[row][l] = rule.code(decide_level(p, key, element + row * warp_lanes + l), value);
    }
  });
}

/// Reports to the source what receivers decode: rule.value(code).
template <class Rule>
KOKKOS_FORCEINLINE_FUNCTION void report_group(const Warp& warp, const Source& source, index_t i, index_t size,
                                              const Rule& rule, const Lanes<std::uint32_t> (&code)[draw_rows]) {
  if (source.memory == nullptr) return;
  send_rows(warp, source, i, size, [&](int l, float, int row) { return rule.value(code[row][l]); });
}

}  // namespace gradcomp::kernels
