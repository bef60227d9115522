#include "gradcomp/kernels/pack/packed_levels.hpp"

#include <algorithm>

#include "gradcomp/core/error.hpp"
#include "gradcomp/kernels/lanes/arrays.hpp"

namespace gradcomp::kernels {
namespace {

using Piece = PackedLevels::Piece;

std::vector<Piece> pieces_of(const Layout& layout, index_t length, int bits) {
  std::vector<Piece> pieces;
  const index_t piece_size = std::max<index_t>(length, tile_size);
  index_t group = 0, word = 0;
  for (const auto& segment : layout.segments) {
    for (index_t e = 0; e < segment.count; e += piece_size) {
      pieces.push_back({segment.offset + e, e, segment.id, group + group_of(e, length), word + packed_words(e, bits),
                        static_cast<std::int32_t>(std::min(piece_size, segment.count - e))});
    }
    group += group_count(segment.count, length);
    word += packed_words(segment.count, bits);
  }
  return pieces;
}

/// Digits of `bits` bits.
template <int bits>
struct Digits {
  static constexpr int fields = 32 / bits, rows = draw_rows / fields;  ///< rows: of words, per 256 elements
  static constexpr std::uint32_t mask = (1u << bits) - 1u;
  static constexpr int max_level = max_summed(bits);

  /// A word with `max_level` in every field.
  KOKKOS_FORCEINLINE_FUNCTION static constexpr std::uint32_t bias() {
    std::uint32_t all = 0;
    for (int f = 0; f < fields; ++f) all |= static_cast<std::uint32_t>(max_level) << (bits * f);
    return all;
  }
};

/// What the kernels below capture.
struct Job {
  const Piece* pieces;
  index_t count, length;
  LinearCodec codec;
};

template <int bits>
void encode_digits(const Exec& exec, const Job& job, const Source& source, const QuantiseStream& stream,
                   const float* own, const float* shared, const float* sent, std::int32_t* words) {
  for_warps(
      "gradcomp::kernels::encode_packed_levels", exec, job.count, KOKKOS_LAMBDA(const Warp& warp, index_t p) {
        using D = Digits<bits>;
        const Piece piece = job.pieces[p];
        const Array4 key = stream_key(stream.seed, piece.segment_id, stream.step, stream.rank);
        std::int32_t* out = words + piece.word;
        for (index_t start = 0; start < piece.count; start += draw_elements) {
          const index_t size = piece.count - start < draw_elements ? piece.count - start : draw_elements;
          const index_t group = piece.group + group_of(start, job.length);
          const auto rule = job.codec.rule(own + group, sent + group, shared[group]);
          Lanes<std::uint32_t> code[draw_rows];
          prefetch_rows<draw_rows>(source.accumulated() + piece.first + start);
          dither_group(warp, source.accumulated() + piece.first + start, size, rule, key, piece.element + start, code);
          report_group(warp, source, piece.first + start, size, rule, code);
          GRADCOMP_UNROLL
          for (int row = 0; row < D::rows; ++row) {
            if (row * D::fields * warp_lanes >= size) break;
            warp.each([&](int l) {
              std::int32_t word = 0;
              GRADCOMP_UNROLL
              for (int f = D::fields - 1; f >= 0; --f) {
                const std::uint32_t c = code[row * D::fields + f][l];
                const auto level = static_cast<std::int32_t>((c + 1) >> 1);
                word = word * (1 << bits) + ((c & 1u) != 0 ? -level : level);
              }
              out[l] = word;
            });
            out += warp_lanes;
          }
        }
      });
}

template <int bits>
void decode_digits(const Exec& exec, const Job& job, const std::int32_t* words, const float* scale, float weight,
                   float* out) {
  for_warps(
      "gradcomp::kernels::decode_packed_levels", exec, job.count, KOKKOS_LAMBDA(const Warp& warp, index_t p) {
        using D = Digits<bits>;
        const Piece piece = job.pieces[p];
        const std::int32_t* in = words + piece.word;
        for (index_t e = 0; e < piece.count; e += D::fields * warp_lanes) {
          const float step = scale[piece.group + group_of(e, job.length)] / static_cast<float>(job.codec.levels);
          Lanes<std::uint32_t> word;
          warp.each([&](int l) { word[l] = static_cast<std::uint32_t>(in[l]) + D::bias(); });
          for (int f = 0; f < D::fields; ++f) {
            const index_t left = piece.count - e - f * warp_lanes;
            float* const target = out + piece.first + e + f * warp_lanes;
            prefetch_rows<1>(target);
            warp.each([&](int l) {
              if (l >= left) return;
              const std::int32_t level = static_cast<std::int32_t>((word[l] >> (bits * f)) & D::mask) - D::max_level;
              target[l] = weight * static_cast<float>(level) * step;
            });
          }
          in += warp_lanes;
        }
      });
}

}  // namespace

index_t packed_words(const Layout& layout, int bits) {
  index_t words = 0;
  for (const auto& segment : layout.segments) words += packed_words(segment.count, bits);
  return words;
}

PackedLevels::PackedLevels(const Layout& layout, index_t length, int bits)
    : m_pieces(upload("gradcomp::kernels::packed_pieces", pieces_of(layout, length, bits))),
      m_length(length),
      m_bits(bits) {
  require(bits == 4 || bits == 16, "packed levels of {} bits; allowed: 4, 16", bits);
}

void PackedLevels::encode(const Exec& exec, const LinearCodec& codec, const Source& source,
                          const QuantiseStream& stream, const float* own, const float* shared, const float* sent,
                          const Span<std::int32_t>& words) const {
  const Job job{m_pieces.data(), static_cast<index_t>(m_pieces.size()), m_length, codec};
  if (m_bits == 4) {
    encode_digits<4>(exec, job, source, stream, own, shared, sent, words.data());
  } else {
    encode_digits<16>(exec, job, source, stream, own, shared, sent, words.data());
  }
}

void PackedLevels::decode(const Exec& exec, const LinearCodec& codec, const Span<const std::int32_t>& words,
                          const float* scale, float weight, const Span<float>& out) const {
  const Job job{m_pieces.data(), static_cast<index_t>(m_pieces.size()), m_length, codec};
  if (m_bits == 4) {
    decode_digits<4>(exec, job, words.data(), scale, weight, out.data());
  } else {
    decode_digits<16>(exec, job, words.data(), scale, weight, out.data());
  }
}

}  // namespace gradcomp::kernels
