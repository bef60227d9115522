#pragma once
// Cuts a layout for fixed-width codes with a scale for each group, and tells where its parts lie in the sections.
//
// Sections: the scales, whole blocks of codes (vertical u32 words, bit_pack.hpp), then for each segment the bit string
// of the codes behind its last whole block.
#include "gradcomp/core/layout.hpp"
#include "gradcomp/kernels/lanes/lanes.hpp"
#include "gradcomp/kernels/pack/bit_pack.hpp"
#include "gradcomp/kernels/quantise/groups.hpp"

namespace gradcomp::kernels {

/// Made once, in prepare().
struct CodePieces {
  /// Elements [first, first + count) of the layout; `element` is the index of the first inside its segment.
  struct Piece {
    index_t first, element, segment_id, group, word, tail_code, tail_byte;  ///< positions in their arrays
    std::int32_t count, whole;  ///< the first `whole` codes lie in whole blocks, the others in the tail
  };
  /// The codes of one segment behind its last whole block.
  struct Tail {
    index_t code, count, byte;
  };

  /// `group_length`: a power of two of at least 64; 0: every segment is a group. `code_bits`: 1 .. 9.
  CodePieces(const Layout& layout, index_t group_length, int code_bits);
  /// Turns the pieces of one segment into those of its first `elements` elements.
  void resize(const Exec& exec, index_t elements);

  index_t piece_bytes() const;  ///< scratch memory

  index_t length;  ///< of a group; 0: every segment is a group
  int bits;
  index_t groups = 0, words = 0, tail_bytes = 0;
  index_t tail_room = 0;  ///< upper bound of the codes in all tails, also after resize()
  Vector<Piece> pieces;
  Vector<Tail> tails;

 private:
  Vector<Piece> m_pieces;  ///< `pieces` is its beginning
  Vector<Tail> m_tails;    ///< `tails` is its beginning
};

/// Packs the codes behind whole blocks; `section` is theirs.
void pack_tails(const Exec& exec, const CodePieces& cut, const Vector<std::uint16_t>& codes, std::byte* section);

}  // namespace gradcomp::kernels
