#pragma once
// One bit per element, which is set if the element is negative (-0 counts as positive) or below another threshold, and
// the two levels to which the bits are decoded.
//
// A run of n elements (a bucket, a tensor, a column) takes ceil(n / 32) words. Its whole blocks of 1024 elements are
// vertical: bit b of word l of a block is element 32 b + l, so that neither side needs an operation across lanes. The
// elements behind the last whole block are horizontal: bit l of their word w is element 32 w + l. Bits behind the last
// element are zero.
//
// Passes over n floats: encoding 1 read of a (and 1 write with a memory) and 1/32 write; decoding 1 read and 1 write of
// out.
#include <vector>

#include "gradcomp/kernels/lanes/note.hpp"
#include "gradcomp/kernels/lanes/row_masks.hpp"
#include "gradcomp/kernels/lanes/source_rows.hpp"

namespace gradcomp::kernels {

inline constexpr index_t sign_block = index_t{warp_lanes} * 32;

constexpr index_t sign_words(index_t n) { return (n + 31) / 32; }

/// The bit of element i in its word, for a run of n elements.
KOKKOS_INLINE_FUNCTION constexpr int sign_bit(index_t i, index_t n) {
  return static_cast<int>(i < n / sign_block * sign_block ? i % sign_block / warp_lanes : i % 32);
}

/// Elements [first, first + count) of a bucket.
struct SignRun {
  index_t first, count;
};

/// A part of a run of at most 4096 elements. All pieces but the last of a run consist of whole blocks.
struct SignPiece {
  index_t first, word;  ///< first element in the bucket, and first of the words
  std::int32_t count, run;
};

/// The levels to which the bits of a run are decoded.
struct SignLevels {
  const float* values = nullptr;
  int per_run = 0;         ///< 0: -1 and +1; 1: -value and value; 2: the lower level, then the upper
  bool one_sided = false;  ///< for decoding: whether both levels may be on the same side of zero

  KOKKOS_FORCEINLINE_FUNCTION float lower(index_t run) const {
    return per_run == 0 ? -1.0f : per_run == 1 ? -values[run] : values[2 * run];
  }
  KOKKOS_FORCEINLINE_FUNCTION float upper(index_t run) const {
    return per_run == 0 ? 1.0f : per_run == 1 ? values[run] : values[2 * run + 1];
  }
};

/// Runs cut into pieces. The words of all runs are contiguous. Made once, in prepare().
class SignPieces {
 public:
  explicit SignPieces(const std::vector<SignRun>& runs);
  /// Restricts the pieces of a single run to its first `elements` elements.
  void resize(const Exec& exec, index_t elements);

  index_t count() const { return static_cast<index_t>(piece.size()); }
  index_t words() const { return m_words; }
  index_t bytes() const;
  Vector<SignPiece> piece;
  Vector<index_t> begin;   ///< [runs + 1] first piece of each run
  Vector<SignPiece> room;  ///< all pieces; `piece` is its beginning

 private:
  index_t m_words = 0;
};

/// If the payload is admitted, out += weight * level for every element of every run. `first`: as in
/// Admission::admits(). Broken: a level that is not finite, levels out of order or (unless one_sided is set) on the
/// wrong side of zero, and a bit that is set behind the last element.
void add_signs(const Exec& exec, const SignPieces& pieces, const std::uint32_t* words, const SignLevels& levels,
               float weight, const Admission& admission, bool first, const Span<float>& out);

/// Rows of a source in its first pass. Nothing is reported as sent, so the source must have no memory.
struct FirstRows {
  Source source;
  template <class Code>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Warp& warp, index_t i, index_t count, Lanes<std::int32_t>& bad,
                                              const Code& code) const {
    accumulate_rows(warp, source, i, count, bad, code);
  }
};

/// Rows of a source in a later pass. The memory keeps the difference between a and what `code` returns.
struct SentRows {
  Source source;
  template <class Code>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Warp& warp, index_t i, index_t count, Lanes<std::int32_t>&,
                                              const Code& code) const {
    send_rows(warp, source, i, count, code);
  }
};

/// Writes the words of horizontal rows from element i on, if there is a faster way than that of write_signs(). Returns
/// the number of elements that were handled.
template <class Rows>
KOKKOS_FORCEINLINE_FUNCTION index_t write_rows(const Warp&, const Rows&, index_t, index_t, float, float, float,
                                               std::uint32_t*) {
  return 0;
}
KOKKOS_FORCEINLINE_FUNCTION index_t write_rows(const Warp& warp, const SentRows& rows, index_t i, index_t count,
                                               float threshold, float lower, float upper, std::uint32_t* words) {
  const Source& source = rows.source;
  const bool fed_back = source.kind == Source::Kind::residual;
  if (!fed_back && source.kind != Source::Kind::none) return 0;
  index_t e = 0;
  for (; e + warp_lanes <= count; e += warp_lanes) {
    const std::uint32_t mask = below_mask(warp, source.accumulated() + i + e, threshold);
    warp.once([&] { words[e / warp_lanes] = mask; });
    if (!fed_back) continue;
    float* const memory = source.memory + i + e;
    warp.each([&](int l) {
      const float a = memory[l];
      memory[l] = a - (a < threshold ? lower : upper);
    });
  }
  return e;
}

/// Writes all words in the only pass over a source without a memory, and sums[r] = sum of |a| over run r. `parts` is
/// work space with one element per piece. Notes elements that are not finite.
void first_signs(const Exec& exec, const SignPieces& pieces, const Source& source, const Mark& mark,
                 std::uint32_t* words, const Vector<float>& parts, const Vector<double>& sums);

/// Writes the words of a piece. rows(warp, i, count, bad, code) calls code(l, a, row) for the elements i .. i + count -
/// 1, and with a = 0 for the lanes behind them; code() returns what receivers decode. rows() counts elements that are
/// not finite in `bad`.
template <class Rows>
KOKKOS_FORCEINLINE_FUNCTION void write_piece(const Warp& warp, const SignPiece& here, const Rows& rows, float threshold,
                                             float lower, float upper, Lanes<std::int32_t>& bad, std::uint32_t* words) {
  index_t at = 0;
  for (; at + sign_block <= here.count; at += sign_block) {
    Lanes<std::uint32_t> word;
    warp.each([&](int l) { word[l] = 0; });
    rows(warp, here.first + at, sign_block, bad, [&](int l, float a, int row) {
      word[l] |= (a < threshold ? 1u : 0u) << row;
      return a < threshold ? lower : upper;
    });
    store_row(warp, words + here.word + at / 32, warp_lanes, word);
  }
  at += write_rows(warp, rows, here.first + at, here.count - at, threshold, lower, upper, words + here.word + at / 32);
  for (; at < here.count; at += warp_lanes) {
    Lanes<std::uint32_t> below;
    const int active = static_cast<int>(here.count - at < warp_lanes ? here.count - at : warp_lanes);
    rows(warp, here.first + at, active, bad, [&](int l, float a, int) {
      below[l] = a < threshold && l < active ? 1 : 0;  // 0 behind the last element may be below the threshold
      return a < threshold ? lower : upper;
    });
    const std::uint32_t mask = warp.ballot([&](int l) { return below[l] != 0; });
    warp.once([&] { words[here.word + at / 32] = mask; });
  }
}

/// write_piece() about threshold 0 for all pieces. `mark` notes elements that are not finite.
template <class Rows>
static void write_signs(const Exec& exec, const SignPieces& pieces, const Rows& rows, const SignLevels& levels,
                        const Mark& mark, std::uint32_t* words) {
  const auto piece = pieces.piece;
  for_warps(
      "gradcomp::kernels::write_signs", exec, pieces.count(), KOKKOS_LAMBDA(const Warp& warp, index_t p) {
        const SignPiece here = piece(p);
        Lanes<std::int32_t> bad;
        warp.each([&](int l) { bad[l] = 0; });
        write_piece(warp, here, rows, 0.0f, levels.lower(here.run), levels.upper(here.run), bad, words);
        note_bad(warp, bad, mark);
      });
}

}  // namespace gradcomp::kernels
