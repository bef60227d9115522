#pragma once
// Bit vectors of which the ones matter: written from ascending positions, read back as positions. Work items take
// chunks of words, and chunks of entries, whose starts come from a scan: long enough for a host that the scan costs
// nothing, short enough for a device that there are many.
#include "gradcomp/kernels/lanes/lanes.hpp"

namespace gradcomp::kernels {

inline constexpr index_t words_per_chunk = lanes_are_threads ? 4 : 64;
inline constexpr index_t entries_per_chunk = lanes_are_threads ? 32 : 1024;

constexpr index_t word_chunks(index_t words) { return (words + words_per_chunk - 1) / words_per_chunk; }
constexpr index_t entry_chunks(index_t entries) { return (entries + entries_per_chunk - 1) / entries_per_chunk; }

/// Replaces the first `count` of `starts` by the sums of those before them; returns the sum of all. Waits for exec.
index_t exclusive_scan(const Exec& exec, const Vector<std::uint64_t>& starts, index_t count);

/// Ones of the words; starts[c] becomes the ones before chunk c of words. Waits for exec.
index_t count_ones(const Exec& exec, const std::uint32_t* words, index_t count, const Vector<std::uint64_t>& starts);

/// What find_ones() reports of the one with rank r at bit p: p itself, or the zeros before it, p - r.
enum class OneIs : std::uint8_t { position, zeros_before };

/// out[r] for the first `ones` ones, after count_ones() over the same words.
void find_ones(const Exec& exec, const std::uint32_t* words, index_t count, const Vector<std::uint64_t>& starts,
               index_t ones, OneIs meaning, std::uint32_t* out);

/// Sets the bits of one chunk in zeroed words; positions ascend from chunk to chunk. Only the first and the last word
/// of a chunk can be another one's too.
class BitWriter {
 public:
  KOKKOS_FORCEINLINE_FUNCTION explicit BitWriter(std::uint32_t* words) : m_words(words) {}

  KOKKOS_FORCEINLINE_FUNCTION void set(std::uint64_t position) {
    const auto at = static_cast<index_t>(position / 32);
    if (at != m_at) {
      if (m_at >= 0) flush(m_is_first);
      m_at = at;
    }
    m_word |= 1u << (position % 32);
  }

  KOKKOS_FORCEINLINE_FUNCTION void finish() {
    if (m_at >= 0) flush(true);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void flush(bool is_shared) {
    if (is_shared) {
      Kokkos::atomic_or(m_words + m_at, m_word);
    } else {
      m_words[m_at] = m_word;
    }
    m_word = 0;
    m_is_first = false;
  }

  std::uint32_t* m_words;
  index_t m_at = -1;
  std::uint32_t m_word = 0;
  bool m_is_first = true;
};

}  // namespace gradcomp::kernels
