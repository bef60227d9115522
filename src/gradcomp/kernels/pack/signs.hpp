#pragma once
// One bit per element, set where the element is negative (-0 counts as +) or below another threshold, with the levels
// that both signs decode to.
//
// A run of n elements (a bucket, a tensor, a column) takes ceil(n / 32) words. Its whole blocks of 1024 elements are
// vertical: bit b of word l of a block is element 32 b + l, so that neither side needs an operation across lanes. The
// elements behind the last whole block are horizontal: bit l of the w-th word is element 32 w + l. Bits behind the last
// element are zero.
//
// Bytes: 1 read of a (and 1 write with a memory), 1/32 write; decoding 1 read and 1 write of out.
#include <vector>

#include "gradcomp/kernels/lanes/add_count.hpp"
#include "gradcomp/kernels/lanes/row_masks.hpp"
#include "gradcomp/kernels/lanes/source_rows.hpp"

namespace gradcomp::kernels {

inline constexpr index_t sign_block = index_t{warp_lanes} * 32;

constexpr index_t sign_words(index_t n) { return (n + 31) / 32; }

/// Which bit of its word element i of a run of n is.
KOKKOS_INLINE_FUNCTION constexpr int sign_bit(index_t i, index_t n) {
  return static_cast<int>(i < n / sign_block * sign_block ? i % sign_block / warp_lanes : i % 32);
}

/// Elements [first, first + count) of a bucket.
struct SignRun {
  index_t first, count;
};

/// A part of a run: at most 4096 elements; only the last one of a run is not whole in blocks.
struct SignPiece {
  index_t first, word;  ///< of the bucket; of the words
  std::int32_t count, run;
};

/// What the bits of a run decode to.
struct SignLevels {
  const float* values = nullptr;
  int per_run = 0;  ///< 0: -1 and +1; 1: -value and value; 2: the lower level, then the upper

  /// For encoding: bits are set below it, one for each run; null: 0.
  const float* thresholds = nullptr;
  bool one_sided = false;  ///< for decoding: both levels may be on one side of zero

  KOKKOS_FORCEINLINE_FUNCTION float lower(index_t run) const {
    return per_run == 0 ? -1.0f : per_run == 1 ? -values[run] : values[2 * run];
  }
  KOKKOS_FORCEINLINE_FUNCTION float upper(index_t run) const {
    return per_run == 0 ? 1.0f : per_run == 1 ? values[run] : values[2 * run + 1];
  }
  KOKKOS_FORCEINLINE_FUNCTION float threshold(index_t run) const {
    return thresholds == nullptr ? 0.0f : thresholds[run];
  }
};

/// Runs cut into pieces; their words lie one behind the other. Made once, in prepare().
class SignPieces {
 public:
  explicit SignPieces(const std::vector<SignRun>& runs);
  /// Makes the pieces of one run those of its first `elements` elements.
  void resize(const Exec& exec, index_t elements);

  index_t count() const { return static_cast<index_t>(piece.size()); }
  index_t words() const { return m_words; }
  index_t bytes() const;
  Vector<SignPiece> piece;
  Vector<index_t> begin;   ///< [runs + 1] first piece of each run
  Vector<SignPiece> room;  ///< what `piece` is the beginning of

 private:
  index_t m_words = 0;
};

/// out += weight * level, for every element of every run, where `gate` is open. Counts in `wrong`, with `out`
/// unspecified, when a level is not finite, levels are out of order or (but for one_sided) on the wrong side of zero,
/// or a bit behind the last element is set.
void add_signs(const Exec& exec, const SignPieces& pieces, const std::uint32_t* words, const SignLevels& levels,
               float weight, const Gate& gate, const Tally& wrong, const Span<float>& out);

/// Rows of a source in its first touch; nothing is told to it, so it may have no memory.
struct FirstRows {
  Source source;
  template <class Code>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Warp& warp, index_t i, index_t count, Lanes<std::int32_t>& bad,
                                              const Code& code) const {
    accumulate_rows(warp, source, i, count, bad, code);
  }
};

/// Rows of a source in a later touch, which leaves there what `code` does not decode to.
struct SentRows {
  Source source;
  template <class Code>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Warp& warp, index_t i, index_t count, Lanes<std::int32_t>&,
                                              const Code& code) const {
    send_rows(warp, source, i, count, code);
  }
};

/// Words of the horizontal rows of elements i and on, by a shorter way than write_signs()' `code` where there is one.
/// Returns how many elements they are.
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

/// Writes all words in the only touch of a source without a memory, and sums[r] = sum of |a| of run r (`parts`: one
/// element for each piece). Counts non-finite elements.
void first_signs(const Exec& exec, const SignPieces& pieces, const Source& source, const Tally& non_finite,
                 std::uint32_t* words, const Vector<float>& parts, const Vector<double>& sums);

/// Writes all words where `gate` is open. rows(warp, i, count, bad, code) calls code(l, a, row), which returns what
/// receivers decode, for the elements i .. i + count - 1 and 0 behind them, and counts in `bad`, which is added to
/// `non_finite`.
template <class Rows>
void write_signs(const Exec& exec, const SignPieces& pieces, const Rows& rows, const SignLevels& levels,
                 const Gate& gate, const Tally& non_finite, std::uint32_t* words) {
  const auto piece = pieces.piece;
  const auto counter = non_finite.count();
  for_warps(
      "gradcomp::kernels::write_signs", exec, pieces.count(), gate, KOKKOS_LAMBDA(const Warp& warp, index_t p) {
        const SignPiece here = piece(p);
        const float lower = levels.lower(here.run), upper = levels.upper(here.run);
        const float threshold = levels.threshold(here.run);
        Lanes<std::int32_t> bad;
        warp.each([&](int l) { bad[l] = 0; });
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
        at += write_rows(warp, rows, here.first + at, here.count - at, threshold, lower, upper,
                         words + here.word + at / 32);
        for (; at < here.count; at += warp_lanes) {
          Lanes<std::uint32_t> below;
          const int active = static_cast<int>(here.count - at < warp_lanes ? here.count - at : warp_lanes);
          rows(warp, here.first + at, active, bad, [&](int l, float a, int) {
            below[l] = a < threshold && l < active ? 1 : 0;  // behind the last element, 0 may be below it
            return a < threshold ? lower : upper;
          });
          const std::uint32_t mask = warp.ballot([&](int l) { return below[l] != 0; });
          warp.once([&] { words[here.word + at / 32] = mask; });
        }
        add_count(warp, bad, counter);
      });
}

}  // namespace gradcomp::kernels
