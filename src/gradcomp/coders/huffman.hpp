#pragma once
// Canonical Huffman coding of bytes (Huffman, Proc. IRE 1952), as an entropy stage behind any coding. With H bits of
// entropy (of order zero) per symbol, a Huffman code takes at least H and less than H + 1 bits per symbol.
//
// Section: u64 number of symbols; 256 code lengths of 4 bits (symbol 2 i in the low half of byte i; length 0: the
// symbol does not occur); one u32 per chunk of 4096 symbols, which says where the words of the chunk end; the words.
// Each chunk starts at a word, so that encoding and decoding are parallel over chunks. Its codes follow one another
// from the lowest bit on, with the first bit of a code lowest. Bits behind the last code are zero. Codes ascend with
// (length, symbol). Code lengths are optimal among those of at most 15 bits (package-merge; Larmore & Hirschberg,
// J. ACM 1990); if only one symbol occurs, its length is 1.
#include <array>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp::coders {

inline constexpr int longest_code = 15;
inline constexpr index_t symbols_per_chunk = 4096;
inline constexpr index_t huffman_head_bytes = 8 + 128;

using SymbolCounts = std::array<std::uint64_t, 256>;
using CodeLengths = std::array<std::uint8_t, 256>;

/// The lengths of an optimal prefix code of at most longest_code bits; 0 for symbols that do not occur.
CodeLengths code_lengths(const SymbolCounts& counts);

/// Whether the lengths are those of a complete code, or of a single symbol with length 1.
bool is_code(const CodeLengths& lengths);

/// The canonical codes with reversed bits (the first bit is the lowest).
std::array<std::uint32_t, 256> reversed_codes(const CodeLengths& lengths);

/// Writes and reads sections. Owns 67 KiB of device memory.
class HuffmanCoder {
 public:
  /// For sections of up to `capacity` symbols.
  explicit HuffmanCoder(index_t capacity);

  /// Writes the section of `count` symbols to `out` (`count` bytes, aligned to 4) and returns its size in bytes. If the
  /// section would not be smaller than the symbols themselves, returns 0 and leaves `out` unspecified. Waits for exec.
  index_t encode(const Exec& exec, const std::byte* symbols, index_t count, std::byte* out);

  /// Reads a section (aligned to 4) into `symbols` (`capacity` bytes) and returns the number of symbols. If it is not a
  /// section of at most `capacity` symbols, throws Error and leaves `symbols` unspecified. Waits for exec.
  index_t decode(const Exec& exec, const Span<const std::byte>& section, std::byte* symbols);

  /// Bytes of device memory that the coder owns.
  index_t bytes() const;

 private:
  index_t m_capacity;
  Vector<std::uint64_t> m_histogram;  ///< [256]
  Vector<std::uint32_t> m_codes;      ///< [256] reversed code, with its length in bits 16 to 19
  Vector<std::uint16_t> m_table;      ///< [2^15] by the next bits: symbol, with the length in bits 8 to 11
  SymbolCounts m_counts{};            ///< from here on: host copies
  std::array<std::uint32_t, 256> m_host_codes{};
  std::array<std::uint8_t, huffman_head_bytes> m_head{};
  std::vector<std::uint16_t> m_host_table;
};

}  // namespace gradcomp::coders
