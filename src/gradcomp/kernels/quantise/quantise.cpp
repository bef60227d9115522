#include "gradcomp/kernels/quantise/quantise.hpp"

namespace gradcomp::kernels {
namespace {

constexpr index_t smallest_group = 64;
constexpr int draw_groups = draw_elements / smallest_group;

/// The steps of the rows of 256 elements: one for all rows, or one per group if groups are smaller.
struct RowSteps {
  float limit;                    ///< 2^16 s
  int shift;                      ///< row >> shift is the group of a row
  float step[draw_groups] = {};   ///< with which receivers decode
  float scale[draw_groups] = {};  ///< 2^16 / step of the sender, or 0 for a group of zeros

  KOKKOS_FORCEINLINE_FUNCTION RowSteps(int levels, index_t group)
      : limit(static_cast<float>(levels) * 0x1p16f),
        shift(group >= draw_elements       ? 3
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

  struct Rule {
    float scale, limit, step;

    KOKKOS_FORCEINLINE_FUNCTION Position position(float a) const {
      const float x = Kokkos::bit_cast<float>(magnitude(a)) * scale;
      const float bounded = x < limit ? x : limit;  // NaN: the limit
      const auto fixed = static_cast<std::int32_t>(bounded);
      return {fixed, bounded - static_cast<float>(fixed)};  // exact
    }
    KOKKOS_FORCEINLINE_FUNCTION std::uint32_t code(std::int32_t level, float a) const { return signed_code(level, a); }
    KOKKOS_FORCEINLINE_FUNCTION float value(std::uint32_t code) const { return decoded_value(code, step); }
  };
};

KOKKOS_FORCEINLINE_FUNCTION RowSteps::Rule rule_of_row(const RowSteps& steps, int row) {
  return {steps.of_row(steps.scale, row), steps.limit, steps.of_row(steps.step, row)};
}

/// The L2 norm of elements with magnitudes up to `largest`, whose squares have the sum `squares` in float. The sum is
/// formed in double if float would overflow or lose all bits. This depends only on the data, so that it is the same on
/// every device.
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
  return static_cast<float>(Kokkos::sqrt(sum));
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
  return bounded_norm(norm, largest);
}

}  // namespace

void quantise(const Exec& exec, const CodePlan& plan, const QuantiseSpec& spec, const Source& source,
              const QuantiseStream& stream, float shrink, const Mark& mark, std::byte* out) {
  auto* const norms = reinterpret_cast<float*>(out);
  auto* const words = reinterpret_cast<std::uint32_t*>(out + 4 * plan.scale_count());
  const auto pieces = plan.pieces;
  const auto tail_codes = plan.tail_codes;
  const int bits = plan.bits;
  for_warps(
      "gradcomp::kernels::quantise", exec, static_cast<index_t>(pieces.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t p) {
        const CodePlan::Piece piece = pieces(p);
        const Array4 key = stream_key(stream.seed, piece.segment_id, stream.step, stream.rank);
        const index_t unit = spec.group > draw_elements ? spec.group : draw_elements;
        RowPacker packer{words + piece.word, bits};
        Lanes<std::int32_t> bad;
        warp.each([&](int l) { bad[l] = 0; });
        for (index_t at = 0; at < piece.count; at += unit) {
          const index_t end = at + unit < piece.count ? at + unit : piece.count;
          RowSteps steps(spec.levels, spec.group);
          for (index_t b = at, i = 0; b < end; b += spec.group, ++i) {
            const index_t size = b + spec.group < end ? spec.group : end - b;
            const float norm = group_norm(warp, source, piece.first + b, size, spec.max_norm, bad);
            const float sent = norm * shrink;
            steps.set(static_cast<int>(i), norm / static_cast<float>(spec.levels),
                      sent / static_cast<float>(spec.levels));
            warp.once([&] { norms[piece.group + b / spec.group] = sent; });
          }
          for (index_t start = at; start < end; start += draw_elements) {
            Lanes<std::uint32_t> code[draw_rows];
            const index_t size = start + draw_elements < end ? draw_elements : end - start;
            dither_group(warp, source.accumulated() + piece.first + start, size, steps, key, piece.element + start,
                         code);
            report_group(warp, source, piece.first + start, size, steps, code);
            pack_codes(warp, packer, piece, start, size, code, tail_codes);
          }
        }
        note_bad(warp, bad, mark);
      });
  pack_tails(exec, plan, tail_codes, out + 4 * plan.scale_count() + 4 * plan.words);
}

}  // namespace gradcomp::kernels
