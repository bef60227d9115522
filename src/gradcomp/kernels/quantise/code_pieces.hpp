#pragma once
// How a layout is cut for fixed-width codes with a scale for each bucket, and where its parts lie in the sections.
//
// Sections: what is sent of the scales, whole blocks of codes (vertical u32 words, bit_pack.hpp), then for each segment
// the bit string of the codes behind its last whole block.
#include "gradcomp/core/layout.hpp"
#include "gradcomp/kernels/lanes/lanes.hpp"
#include "gradcomp/kernels/pack/bit_pack.hpp"

namespace gradcomp::kernels {

/// Made once, in prepare().
struct CodePieces {
  /// Elements [first, first + count) of the layout; `element` is the index of the first inside its segment.
  struct Piece {
    index_t first, element, segment_id, bucket, word, tail_code, tail_byte;  ///< positions in their arrays
    std::int32_t count, whole;  ///< the first `whole` codes lie in whole blocks, the others in the tail
  };
  /// The codes of one segment behind its last whole block.
  struct Tail {
    index_t code, count, byte;
  };

  /// `bucket_length`: a power of two, 64 at least, or 0, where segments are buckets; `code_bits` 1 .. 9.
  CodePieces(const Layout& layout, index_t bucket_length, int code_bits);
  /// Makes the pieces of one segment those of its first `elements` elements.
  void resize(const Exec& exec, index_t elements);

  index_t piece_bytes() const;  ///< of scratch

  index_t length;  ///< of buckets, 0: segments
  int bits;
  index_t buckets = 0, words = 0, tail_bytes = 0;
  index_t tail_room = 0;  ///< codes that tails can have in sum, fitted or not
  Vector<Piece> pieces;
  Vector<Tail> tails;

 private:
  Vector<Piece> m_pieces;  ///< what `pieces` and `tails` are the beginnings of
  Vector<Tail> m_tails;
};

/// Packs the codes behind whole blocks; `bytes` is their section.
template <class Code>
void pack_tails(const Exec& exec, const CodePieces& cut, const Vector<Code>& codes, std::uint8_t* bytes) {
  const auto tails = cut.tails;
  const int bits = cut.bits;
  for_warps(
      "gradcomp::kernels::pack_tails", exec, static_cast<index_t>(tails.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t t) {
        const CodePieces::Tail tail = tails(t);
        warp.each([&](int l) {
          for (index_t j = l; j < (tail.count * bits + 7) / 8; j += warp_lanes)
            bytes[tail.byte + j] = tail_byte(codes.data() + tail.code, tail.count, bits, j);
        });
      });
}

}  // namespace gradcomp::kernels
