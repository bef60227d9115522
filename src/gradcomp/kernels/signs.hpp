#pragma once
// One bit per element, set where the element is negative (-0 counts as +), with the levels that both signs decode to.
//
// A run of n elements (a bucket, a tensor, a column) takes ceil(n / 32) words. Its whole blocks of 1024 elements are
// vertical: bit b of word l of a block is element 32 b + l, so that neither side needs an operation across lanes. The
// elements behind the last whole block are horizontal: bit l of the w-th word is element 32 w + l. Bits behind the last
// element are zero.
//
// Bytes: 1 read of a (and 1 write with a memory), 1/32 write; decoding 1 read and 1 write of out.
#include <vector>

#include "gradcomp/kernels/source_rows.hpp"

namespace gradcomp::kernels {

inline constexpr index_t sign_block = index_t{warp_lanes} * 32;

constexpr index_t sign_words(index_t n) { return (n + 31) / 32; }

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

  KOKKOS_FORCEINLINE_FUNCTION float lower(index_t run) const {
    return per_run == 0 ? -1.0f : per_run == 1 ? -values[run] : values[2 * run];
  }
  KOKKOS_FORCEINLINE_FUNCTION float upper(index_t run) const {
    return per_run == 0 ? 1.0f : per_run == 1 ? values[run] : values[2 * run + 1];
  }
};

/// Runs cut into pieces; their words lie one behind the other. Made once, in prepare().
class SignPieces {
 public:
  explicit SignPieces(const std::vector<SignRun>& runs);

  index_t count() const { return static_cast<index_t>(piece.size()); }
  index_t words() const { return m_words; }
  index_t bytes() const;
  /// Sets `counter` to zero, and reads it (waits for exec).
  void reset(const Exec& exec) const;
  index_t read(const Exec& exec) const;

  Vector<SignPiece> piece;
  Vector<index_t> begin;    ///< [runs + 1] first piece of each run
  Vector<index_t> counter;  ///< [1] what the running call found wrong

 private:
  index_t m_words = 0;
};

/// out += weight * level, for every element of every run. False, with `out` unspecified, when a level is not finite or
/// on the wrong side of zero, or a bit behind the last element is set. Waits for exec.
bool add_signs(const Exec& exec, const SignPieces& pieces, const std::uint32_t* words, const SignLevels& levels,
               float weight, const Span<float>& out);

/// Reads a where Source::first() left it.
struct LoadRows {
  Source source;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Warp& warp, index_t i, int active, Lanes<float>& a,
                                              Lanes<std::int32_t>&) const {
    load_row(warp, source.accumulated() + i, active, a);
  }
};

/// Forms a.
struct FirstRows {
  Source source;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Warp& warp, index_t i, int active, Lanes<float>& a,
                                              Lanes<std::int32_t>& bad) const {
    first_row(warp, source, i, active, a, bad);
  }
};

/// Writes all words, and tells `source` what its receivers decode. read(warp, i, active, a, bad) gives elements
/// i .. i + active - 1, 0 for the other lanes, and counts in `bad`; returns that count. Waits for exec.
template <class Read>
index_t write_signs(const Exec& exec, const SignPieces& pieces, const Read& read, const Source& source,
                    const SignLevels& levels, std::uint32_t* words) {
  const auto piece = pieces.piece;
  const auto counter = pieces.counter;
  const bool tells = source.has_memory();
  pieces.reset(exec);
  for_warps(
      "gradcomp::kernels::write_signs", exec, pieces.count(), KOKKOS_LAMBDA(const Warp& warp, index_t p) {
        const SignPiece here = piece(p);
        const float lower = tells ? levels.lower(here.run) : -1.0f, upper = tells ? levels.upper(here.run) : 1.0f;
        Lanes<std::int32_t> bad;
        warp.each([&](int l) { bad[l] = 0; });
        for (index_t at = 0; at < here.count; at += sign_block) {
          const bool vertical = here.count - at >= sign_block;
          const index_t end = vertical ? at + sign_block : index_t{here.count};
          std::uint32_t* const out = words + here.word + at / 32;
          Lanes<std::uint32_t> word;
          warp.each([&](int l) { word[l] = 0; });
          for (index_t row = at; row < end; row += warp_lanes) {
            const int active = static_cast<int>(end - row < warp_lanes ? end - row : warp_lanes);
            const auto bit = static_cast<std::uint32_t>((row - at) / warp_lanes);
            Lanes<float> a;
            read(warp, here.first + row, active, a, bad);
            if (vertical) {
              warp.each([&](int l) { word[l] |= (a[l] < 0 ? 1u : 0u) << bit; });
            } else {
              const std::uint32_t mask = warp.ballot([&](int l) { return a[l] < 0; });
              warp.once([&] { out[bit] = mask; });
            }
            if (!tells) continue;
            Lanes<float> decoded;
            warp.each([&](int l) { decoded[l] = a[l] < 0 ? lower : upper; });
            sent_row(warp, source, here.first + row, active, a, decoded);
          }
          if (vertical) store_row(warp, out, warp_lanes, word);
        }
        const std::int32_t total = warp.sum(bad);
        warp.once([&] {
          if (total > 0) Kokkos::atomic_add(&counter(0), static_cast<index_t>(total));
        });
      });
  return pieces.read(exec);
}

}  // namespace gradcomp::kernels
