#pragma once
// Bit vectors that are written from the ascending positions of their ones, and read back as positions. Work items take
// chunks of words or chunks of entries, whose starts come from a scan. On hosts, chunks are so long that the scan costs
// nothing; on devices they are so short that there are many.
#include "gradcomp/kernels/lanes/lanes.hpp"

namespace gradcomp::kernels {

inline constexpr index_t words_per_chunk = lanes_are_threads ? 4 : 64;
inline constexpr index_t entries_per_chunk = lanes_are_threads ? 32 : 1024;

constexpr index_t word_chunks(index_t words) { return (words + words_per_chunk - 1) / words_per_chunk; }
constexpr index_t entry_chunks(index_t entries) { return (entries + entries_per_chunk - 1) / entries_per_chunk; }

/// Replaces each of the first `count` values in `starts` by the sum of the values before it, and returns the sum of
/// all. Waits for exec.
index_t exclusive_scan(const Exec& exec, const Vector<std::uint64_t>& starts, index_t count);

/// Counts the ones of `count` words; starts[c] becomes the number of ones before chunk c. Waits for exec.
index_t count_ones(const Exec& exec, const std::uint32_t* words, index_t count, const Vector<std::uint64_t>& starts);

/// What find_ones() writes for the one with rank r at bit p: p itself, or the number of zeros before it, p - r.
enum class OneIs : std::uint8_t { position, zeros_before };

/// Fills out[r] for the first `ones` ones. Call count_ones() for the same words first.
void find_ones(const Exec& exec, const std::uint32_t* words, index_t count, const Vector<std::uint64_t>& starts,
               index_t ones, OneIs meaning, std::uint32_t* out);

/// Sets the bits of one chunk in words that are zero; positions ascend from chunk to chunk. Only the first and the last
/// word of a chunk can belong to another chunk too.
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
