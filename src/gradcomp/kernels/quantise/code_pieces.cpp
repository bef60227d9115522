#include "gradcomp/kernels/quantise/code_pieces.hpp"

#include <algorithm>

#include "gradcomp/kernels/lanes/arrays.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"

namespace gradcomp::kernels {
namespace {

/// All three are powers of two, so that a piece has whole groups, blocks and draws, and only the last one has a tail.
index_t piece_size(index_t length, const CodeBlock& block) {
  return std::max<index_t>({length, block.codes(), tile_size});
}

}  // namespace

CodePieces::CodePieces(const Layout& layout, index_t group_length, int code_bits)
    : length(group_length), bits(code_bits) {
  const CodeBlock block(bits);
  const index_t max_piece = piece_size(length, block);
  std::vector<Piece> list;
  std::vector<Tail> ends;
  index_t codes = 0;
  for (const auto& segment : layout.segments) {
    const index_t whole = block.whole(segment.count);
    for (index_t e = 0; e < segment.count; e += max_piece) {
      const index_t size = std::min(max_piece, segment.count - e);
      list.push_back({segment.offset + e, e, segment.id, groups + group_of(e, length), words + block.word_count(e),
                      codes, tail_bytes, static_cast<std::int32_t>(size),
                      static_cast<std::int32_t>(std::clamp<index_t>(whole - e, 0, size))});
    }
    if (segment.count > whole) ends.push_back({codes, segment.count - whole, tail_bytes});
    groups += group_count(segment.count, length);
    words += block.word_count(segment.count);
    tail_bytes += block.tail_bytes(segment.count);
    codes += segment.count - whole;
  }
  pieces = m_pieces = upload("gradcomp::kernels::code_pieces", list);
  const auto tail_count = static_cast<index_t>(ends.size());
  if (ends.empty()) ends.push_back({0, 0, 0});  // resize() may need one
  m_tails = upload("gradcomp::kernels::code_tails", ends);
  tails = first_of(m_tails, tail_count);
  tail_room = std::max(codes, block.codes());
}

void CodePieces::resize(const Exec& exec, index_t elements) {
  const CodeBlock block(bits);
  const index_t max_piece = piece_size(length, block), whole = block.whole(elements);
  groups = group_count(elements, length);
  words = block.word_count(elements);
  tail_bytes = block.tail_bytes(elements);
  pieces = first_of(m_pieces, (elements + max_piece - 1) / max_piece);
  tails = first_of(m_tails, elements > whole ? 1 : 0);
  const auto list = pieces;
  const auto ends = tails;
  Kokkos::parallel_for(
      "gradcomp::kernels::fit_codes", IndexRange(exec, 0, static_cast<index_t>(list.size())),
      KOKKOS_LAMBDA(const index_t p) {
        const index_t left = elements - p * max_piece, size = left < max_piece ? left : max_piece,
                      inside = whole - p * max_piece;
        list(p).count = static_cast<std::int32_t>(size);
        list(p).whole = static_cast<std::int32_t>(inside < size ? inside > 0 ? inside : 0 : size);
        if (p == 0 && ends.size() > 0) ends(0) = {0, elements - whole, 0};
      });
}

index_t CodePieces::piece_bytes() const {
  return static_cast<index_t>(m_pieces.size() * sizeof(Piece) + m_tails.size() * sizeof(Tail));
}

void pack_tails(const Exec& exec, const CodePieces& cut, const Vector<std::uint16_t>& codes, std::byte* section) {
  auto* const bytes = reinterpret_cast<std::uint8_t*>(section);
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
