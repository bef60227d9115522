#pragma once
// Canonical Huffman coding of bytes (Huffman, Proc. IRE 1952), as an entropy stage behind any coding: the section of a
// payload that says n symbols of 8 bits in H <= bits per symbol < H + 1, H their entropy of order zero.
//
// Section: u64 number of symbols; 256 code lengths of 4 bits (symbol 2 i in the low half of byte i; 0: does not occur);
// u32 ends of the chunks' words, one per chunk of 4096 symbols; the words. A chunk starts at a word, so that encoding
// and decoding are parallel over chunks; its codes follow one another from the lowest bit on, the first bit of a code
// lowest; bits behind the last code are zero. Codes ascend with (length, symbol). Lengths are at most 15, the optimal
// ones under that bound (package-merge; Larmore & Hirschberg, J. ACM 1990); a lone symbol has length 1.
#include <array>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp::coders {

inline constexpr int longest_code = 15;
inline constexpr index_t symbols_per_chunk = 4096;
inline constexpr index_t huffman_head_bytes = 8 + 128;

using SymbolCounts = std::array<std::uint64_t, 256>;
using CodeLengths = std::array<std::uint8_t, 256>;

/// Lengths of an optimal prefix code of at most longest_code bits; 0 of symbols that do not occur.
CodeLengths code_lengths(const SymbolCounts& counts);

/// True for what code_lengths() can return: a complete code, or one symbol of length 1.
bool is_code(const CodeLengths& lengths);

/// The canonical codes, bit-reversed (the first bit lowest).
std::array<std::uint32_t, 256> reversed_codes(const CodeLengths& lengths);

/// Writes and reads sections. Owns about 64 KiB and 4 bytes a chunk.
class HuffmanCoder {
 public:
  /// For up to `capacity` symbols.
  explicit HuffmanCoder(index_t capacity);

  /// Writes the section of `count` symbols to `out` (`count` bytes, aligned to 4) and returns its bytes; 0, with `out`
  /// unspecified, when it would not be smaller than the symbols themselves. Waits for exec.
  index_t encode(const Exec& exec, const std::byte* symbols, index_t count, std::byte* out);

  /// Reads a section (aligned to 4) into `symbols` (`capacity` bytes) and returns their number. Throws Error, with
  /// `symbols` unspecified, when it is no section of at most `capacity` symbols. Waits for exec.
  index_t decode(const Exec& exec, const Span<const std::byte>& section, std::byte* symbols);

  index_t bytes() const;

 private:
  index_t m_capacity;
  Vector<std::uint64_t> m_histogram;  ///< [256]
  Vector<std::uint32_t> m_codes;      ///< [256] reversed code, its length in bits 16 to 19
  Vector<std::uint16_t> m_table;      ///< [2^15] by the next bits: symbol, the code's length in bits 8 to 11
  SymbolCounts m_counts{};            ///< what travels between host and device
  std::array<std::uint32_t, 256> m_host_codes{};
  std::array<std::uint8_t, huffman_head_bytes> m_head{};
  std::vector<std::uint16_t> m_host_table;
};

}  // namespace gradcomp::coders
