#include "gradcomp/kernels/quantise/level_codes.hpp"

namespace gradcomp::kernels {

void encode_levels(const Exec& exec, const CodePlan& plan, const LinearCodec& codec, const Source& source,
                   const QuantiseStream& stream, const float* own, const float* shared, const float* sent,
                   const Span<std::int8_t>& codes) {
  const auto pieces = plan.pieces;
  const index_t length = plan.length;
  for_warps(
      "gradcomp::kernels::encode_levels", exec, static_cast<index_t>(pieces.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t p) {
        const CodePlan::Piece piece = pieces(p);
        const Array4 key = stream_key(stream.seed, piece.segment_id, stream.step, stream.rank);
        for (index_t start = 0; start < piece.count; start += draw_elements) {
          const index_t end = start + draw_elements < piece.count ? start + draw_elements : piece.count;
          const index_t group = piece.group + group_of(start, length);
          const auto rule = codec.rule(own + group, sent + group, shared[group]);
          Lanes<std::uint32_t> code[draw_rows];
          prefetch_rows<draw_rows>(source.accumulated() + piece.first + start);
          dither_group(warp, source.accumulated() + piece.first + start, end - start, rule, key, piece.element + start,
                       code);
          report_group(warp, source, piece.first + start, end - start, rule, code);
          Lanes<std::int8_t> level[draw_rows];
          GRADCOMP_UNROLL
          for (int row = 0; row < draw_rows; ++row) {
            warp.each([&](int l) {
              const std::uint32_t c = code[row][l];
              const auto size = static_cast<std::int32_t>((c + 1) >> 1);
              level[row][l] = static_cast<std::int8_t>((c & 1u) != 0 ? -size : size);
            });
          }
          store_rows(warp, codes.data() + piece.first + start, end - start, level);
        }
      });
}

void decode_levels(const Exec& exec, const CodePlan& plan, const LinearCodec& codec,
                   const Span<const std::int8_t>& levels, const float* scale, float weight, const Span<float>& out) {
  const auto pieces = plan.pieces;
  const index_t length = plan.length;
  const auto s = static_cast<float>(codec.levels);
  for_warps(
      "gradcomp::kernels::decode_levels", exec, static_cast<index_t>(pieces.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t p) {
        const CodePlan::Piece piece = pieces(p);
        for (index_t start = 0; start < piece.count; start += draw_elements) {
          const index_t end = start + draw_elements < piece.count ? start + draw_elements : piece.count;
          const float step = scale[piece.group + group_of(start, length)] / s;
          float* const target = out.data() + piece.first + start;
          const std::int8_t* const level = levels.data() + piece.first + start;
          prefetch_rows<draw_rows>(target);
          each_element(
              warp, end - start, [&](index_t e) { return level[e]; },
              [&](int, index_t e, std::int8_t q) { target[e] = weight * static_cast<float>(q) * step; });
        }
      });
}

}  // namespace gradcomp::kernels
