#include "gradcomp/kernels/quantise/code_plan.hpp"

#include <algorithm>

#include "gradcomp/kernels/lanes/arrays.hpp"

namespace gradcomp::kernels {
namespace {

/// All three are powers of two: a piece is whole in buckets, blocks and draws, and only the last one holds a tail.
index_t piece_size(index_t length, const CodeBlock& block) {
  return std::max<index_t>({length, block.codes(), tile_size});
}

}  // namespace

CodePlan::CodePlan(const Layout& layout, index_t bucket_length, int code_bits, int scale_words)
    : length(bucket_length), bits(code_bits), words_per_bucket(scale_words) {
  const CodeBlock block(bits);
  const index_t most = piece_size(length, block);
  std::vector<Piece> list;
  std::vector<Tail> ends;
  index_t codes = 0;
  for (const auto& segment : layout.segments) {
    const index_t whole = block.whole(segment.count);
    for (index_t e = 0; e < segment.count; e += most) {
      const index_t size = std::min(most, segment.count - e);
      list.push_back({segment.offset + e, e, segment.id, buckets + (length > 0 ? e / length : 0),
                      words + block.word_count(e), codes, tail_bytes, static_cast<std::int32_t>(size),
                      static_cast<std::int32_t>(std::clamp<index_t>(whole - e, 0, size))});
    }
    if (segment.count > whole) ends.push_back({codes, segment.count - whole, tail_bytes});
    buckets += length > 0 ? (segment.count + length - 1) / length : segment.count > 0 ? 1 : 0;
    words += block.word_count(segment.count);
    tail_bytes += block.tail_bytes(segment.count);
    codes += segment.count - whole;
  }
  pieces = piece_room = upload("gradcomp::kernels::code_pieces", list);
  const auto tail_count = static_cast<index_t>(ends.size());
  if (ends.empty()) ends.push_back({0, 0, 0});  // resize() may need one
  tail_room = upload("gradcomp::kernels::code_tails", ends);
  tails = first_of(tail_room, tail_count);
  tail_codes =
      Vector<std::uint16_t>("gradcomp::kernels::tail_codes", static_cast<std::size_t>(std::max(codes, block.codes())));
}

void CodePlan::resize(const Exec& exec, index_t elements) {
  const CodeBlock block(bits);
  const index_t most = piece_size(length, block), whole = block.whole(elements);
  buckets = length > 0 ? (elements + length - 1) / length : elements > 0 ? 1 : 0;
  words = block.word_count(elements);
  tail_bytes = block.tail_bytes(elements);
  pieces = first_of(piece_room, (elements + most - 1) / most);
  tails = first_of(tail_room, elements > whole ? 1 : 0);
  const auto list = pieces;
  const auto ends = tails;
  Kokkos::parallel_for(
      "gradcomp::kernels::fit_codes", IndexRange(exec, 0, static_cast<index_t>(list.size())),
      KOKKOS_LAMBDA(const index_t p) {
        const index_t left = elements - p * most, size = left < most ? left : most, inside = whole - p * most;
        list(p).count = static_cast<std::int32_t>(size);
        list(p).whole = static_cast<std::int32_t>(inside < size ? inside > 0 ? inside : 0 : size);
        if (p == 0 && ends.size() > 0) ends(0) = {0, elements - whole, 0};
      });
}

index_t CodePlan::scratch_bytes() const {
  return static_cast<index_t>(piece_room.size() * sizeof(Piece) + tail_room.size() * sizeof(Tail) +
                              2 * tail_codes.size());
}

index_t coded_bytes(const Layout& layout, index_t length, int bits, int scale_words) {
  index_t bytes = 4 * scale_words * group_count(layout, length);
  for (const auto& segment : layout.segments) bytes += (segment.count * bits + 7) / 8;
  return bytes;
}

void pack_tails(const Exec& exec, const CodePlan& plan, std::uint8_t* bytes) {
  const auto tails = plan.tails;
  const auto codes = plan.tail_codes;
  const int bits = plan.bits;
  for_warps(
      "gradcomp::kernels::pack_tails", exec, static_cast<index_t>(tails.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t t) {
        const CodePlan::Tail tail = tails(t);
        warp.each([&](int l) {
          for (index_t j = l; j < (tail.count * bits + 7) / 8; j += warp_lanes)
            bytes[tail.byte + j] = tail_byte(codes.data() + tail.code, tail.count, bits, j);
        });
      });
}

}  // namespace gradcomp::kernels
