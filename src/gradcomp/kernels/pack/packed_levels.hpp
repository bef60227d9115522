#pragma once
// Signed levels of LinearCodec, packed into 32-bit integers that can be added over ranks: the sum of words holds the
// sums of all levels. The levels are digits in base 2^bits, balanced around zero: word = sum over fields f of
// level_f 2^(bits f), as a signed number. As long as no sum of levels leaves [-most, most], most = 2^(bits - 1) - 1, no
// digit carries and no partial sum needs more than 32 bits, in any order of the ranks. Adding `most` to every field at
// the end makes them the digits of an unsigned number.
//
// A segment of n elements takes 32 ceil(n / (32 F)) words with F = 32 / bits fields. Word l of a row of 32 holds
// elements l, l + 32, ... of 32 F consecutive elements, so that neither side needs an operation across lanes. Passes
// over n floats: 1 read of a (and 1 write with a residual), bits / 32 write.
#include "gradcomp/kernels/quantise/code_plan.hpp"

namespace gradcomp::kernels {

/// The largest magnitude that a sum of levels may have.
constexpr int max_summed(int bits) { return (1 << (bits - 1)) - 1; }

/// Words of a segment of n elements.
constexpr index_t packed_words(index_t n, int bits) {
  const index_t row = index_t{warp_lanes} * (32 / bits);
  return (n + row - 1) / row * warp_lanes;
}
/// Words of all segments.
index_t packed_words(const Layout& layout, int bits);

/// How a layout is cut; made once, in prepare().
class PackedLevels {
 public:
  /// `length`: elements of a group, as in GroupRanges. `bits`: width of a field, 4 or 16; throws Error for others.
  PackedLevels(const Layout& layout, index_t length, int bits);

  /// Like encode_levels() (level_codes.hpp), but writes words.
  void encode(const Exec& exec, const LinearCodec& codec, const Source& source, const QuantiseStream& stream,
              const float* own, const float* shared, const float* sent, const Span<std::int32_t>& words) const;

  /// Like decode_levels(), but reads words or sums of words.
  void decode(const Exec& exec, const LinearCodec& codec, const Span<const std::int32_t>& words, const float* scale,
              float weight, const Span<float>& out) const;

  index_t bytes() const { return static_cast<index_t>(m_pieces.size() * sizeof(Piece)); }

  /// Elements [first, first + count) of the layout; `count` is a multiple of 256 except at the end of a segment.
  struct Piece {
    index_t first, element, segment_id, group, word;
    std::int32_t count;
  };

 private:
  Vector<Piece> m_pieces;
  index_t m_length;
  int m_bits;
};

}  // namespace gradcomp::kernels
