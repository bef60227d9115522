#pragma once
// Encodes a layout element by element with a codec (codecs.hpp) into the sections of a payload, and decodes them.
//
// Sections: the scales (Codec::words f32 for each group), then the codes as in code_pieces.hpp. Bytes: 1 read of a
// (and 1 write with a residual), bits / 32 writes.
#include "gradcomp/kernels/lanes/note.hpp"
#include "gradcomp/kernels/quantise/code_pieces.hpp"
#include "gradcomp/kernels/quantise/codecs.hpp"
#include "gradcomp/kernels/quantise/group_ranges.hpp"

namespace gradcomp::kernels {

/// The pieces of a layout for codes of up to 9 bits with `words_per_group` f32 for each group. Made once, in prepare().
struct CodePlan : CodePieces {
  /// `length` of groups as in GroupRanges; `code_bits` 1 .. 9.
  CodePlan(const Layout& layout, index_t length, int code_bits, int scale_words);

  index_t scale_count() const { return words_per_group * groups; }
  index_t bytes() const { return 4 * (scale_count() + words) + tail_bytes; }
  index_t scratch_bytes() const;

  int words_per_group;
  Vector<std::uint16_t> tail_codes;  ///< codes behind whole blocks, before they are packed
};

/// CodePlan::bytes() without a plan: sum over segments of 4 words ceil(n / length) + ceil(n bits / 8).
index_t coded_bytes(const Layout& layout, index_t length, int bits, int scale_words);

/// Packs the codes of elements start .. start + size - 1 of a piece, 256 at most; `start` is a multiple of 256. Those
/// behind whole blocks wait in `tail_codes`.
KOKKOS_FORCEINLINE_FUNCTION void pack_codes(const Warp& warp, RowPacker& packer, const CodePieces::Piece& piece,
                                            index_t start, index_t size, const Lanes<std::uint32_t> (&code)[draw_rows],
                                            const Vector<std::uint16_t>& tail_codes) {
  if (start + draw_elements <= piece.whole) return pack_rows(warp, packer, code);
  GRADCOMP_UNROLL
  for (int row = 0; row < draw_rows; ++row) {
    const index_t e = start + row * warp_lanes;
    if (e < piece.whole) {
      packer.push(warp, code[row]);
    } else {
      warp.each([&](int l) {
        if (row * warp_lanes + l < size)
          tail_codes(piece.tail_code + e + l - piece.whole) = static_cast<std::uint16_t>(code[row][l]);
      });
    }
  }
}

/// Writes the codes of a behind the scales that already lie at `out`, with which receivers decode, and leaves
/// a - decoded in the memory. `own`: the scales in which a is measured, plan.scale_count() words. If `form` is true,
/// this is the first touch of the source, which notes elements that are not finite in `mark`.
template <class Codec>
static void encode_codes(const Exec& exec, const CodePlan& plan, const Codec& codec, const Source& source,
                         const QuantiseStream& stream, const float* own, bool form, const Mark& mark, std::byte* out) {
  const auto* const scales = reinterpret_cast<const float*>(out);
  auto* const words = reinterpret_cast<std::uint32_t*>(out + 4 * plan.scale_count());
  const auto pieces = plan.pieces;
  const auto tail_codes = plan.tail_codes;
  const index_t length = plan.length;
  const int bits = plan.bits;
  for_warps(
      "gradcomp::kernels::encode_codes", exec, static_cast<index_t>(pieces.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t p) {
        const CodePlan::Piece piece = pieces(p);
        const Array4 key = stream_key(stream.seed, piece.segment_id, stream.step, stream.rank);
        RowPacker packer{words + piece.word, bits};
        Lanes<std::int32_t> bad;
        warp.each([&](int l) { bad[l] = 0; });
        for (index_t start = 0; start < piece.count; start += draw_elements) {
          const index_t end = start + draw_elements < piece.count ? start + draw_elements : piece.count;
          const index_t group = piece.group + group_of(start, length);
          const auto rule = codec.rule(own + group * Codec::words, scales + group * Codec::words);
          if (form) {
            accumulate_rows(warp, source, piece.first + start, end - start, bad, [](int, float, int) {});
          } else {
            prefetch_rows<draw_rows>(source.accumulated() + piece.first + start);
          }
          Lanes<std::uint32_t> code[draw_rows];
          dither_group(warp, source.accumulated() + piece.first + start, end - start, rule, key, piece.element + start,
                       code);
          report_group(warp, source, piece.first + start, end - start, rule, code);
          pack_codes(warp, packer, piece, start, end - start, code, tail_codes);
        }
        if (form) note_bad(warp, bad, mark);
      });
  pack_tails(exec, plan, tail_codes, out + 4 * plan.scale_count() + 4 * plan.words);
}

/// out = admission.before(out) + weight * decoded if the payload is admitted, from plan.bytes() bytes at `in` (aligned
/// to 4). Codes and scales that no encoder writes are broken.
template <class Codec>
static void decode_codes(const Exec& exec, const CodePlan& plan, const Codec& codec, const std::byte* in, float weight,
                         const Admission& admission, const Span<float>& out) {
  const auto* const scales = reinterpret_cast<const float*>(in);
  const auto* const words = reinterpret_cast<const std::uint32_t*>(in + 4 * plan.scale_count());
  const auto* const tail_bytes = reinterpret_cast<const std::uint8_t*>(words + plan.words);
  const auto pieces = plan.pieces;
  const index_t length = plan.length, unit = length > 0 && length < draw_elements ? length : draw_elements;
  const int bits = plan.bits;
  for_warps(
      "gradcomp::kernels::decode_codes", exec, static_cast<index_t>(pieces.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t p) {
        const CodePlan::Piece piece = pieces(p);
        if (!may_add(warp, admission, p == 0, out.data() + piece.first, piece.count)) return;
        RowUnpacker unpacker{words + piece.word, bits};
        Lanes<std::int32_t> bad;
        warp.each([&](int l) { bad[l] = 0; });
        for (index_t start = 0; start < piece.count; start += unit) {
          const index_t end = start + unit < piece.count ? start + unit : piece.count;
          const float* const scale = scales + (piece.group + group_of(start, length)) * Codec::words;
          const auto rule = codec.rule(scale, scale);
          const bool good = codec.good(scale);
          warp.each([&](int l) { bad[l] += good ? 0 : 1; });
          index_t e = start;
          if (end - start == draw_elements && end <= piece.whole) {
            float* const target = out.data() + piece.first + start;
            prefetch_rows<draw_rows>(target);
            unpack_rows(warp, unpacker, [&](int l, std::uint32_t code, int row) {
              bad[l] += codec.valid(code) ? 0 : 1;
              float& sum = target[row * warp_lanes + l];
              sum = admission.before(sum) + weight * rule.value(code);
            });
            e = end;
          }
          for (; e < end; e += warp_lanes) {
            Lanes<std::uint32_t> code;
            float* const target = out.data() + piece.first + e;
            if (e < piece.whole) {
              unpacker.pull(warp, code);
              warp.each([&](int l) {
                bad[l] += codec.valid(code[l]) ? 0 : 1;
                target[l] = admission.before(target[l]) + weight * rule.value(code[l]);
              });
            } else {
              const std::uint8_t* const bytes = tail_bytes + piece.tail_byte;
              warp.each([&](int l) {
                if (e + l >= end) return;
                const std::uint32_t last = tail_code(bytes, bits, e + l - piece.whole);
                bad[l] += codec.valid(last) ? 0 : 1;
                target[l] = admission.before(target[l]) + weight * rule.value(last);
              });
            }
          }
        }
        note_broken(warp, bad, admission.faults);
      });
}

}  // namespace gradcomp::kernels
