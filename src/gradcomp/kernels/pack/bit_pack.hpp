#pragma once
// Codes of 1 to 9 bits, packed without gaps: n codes take exactly ceil(n bits / 8) bytes.
//
// Whole blocks are stored in "vertical" words: a block has `rows` rows of 32 codes, code (row, lane) is at bit
// row * bits of the bit string of its lane, and the words w of all 32 lanes are stored together. So neither packing nor
// unpacking needs an operation across lanes (a horizontal order of codes is 1.1 to 6 times slower). The codes behind
// the last whole block follow as a plain bit string, least significant bit first.
#include "gradcomp/kernels/lanes/lanes.hpp"

namespace gradcomp::kernels {

/// Extents of a block of vertical words. Example: `bits` = 4 gives 8 rows, 256 codes and 1 word per lane.
struct CodeBlock {
  int bits = 8;   ///< per code
  int rows = 4;   ///< 32 / gcd(32, bits)
  int words = 1;  ///< per lane

  KOKKOS_INLINE_FUNCTION constexpr explicit CodeBlock(int code_bits) : bits(code_bits), rows(32), words(code_bits) {
    for (; rows % 2 == 0 && words % 2 == 0; rows /= 2) words /= 2;
  }

  /// Codes of one block.
  KOKKOS_INLINE_FUNCTION constexpr index_t codes() const { return index_t{warp_lanes} * rows; }
  /// How many of n codes are in whole blocks.
  KOKKOS_INLINE_FUNCTION constexpr index_t whole(index_t n) const { return n / codes() * codes(); }
  /// 32-bit words of the whole blocks of n codes.
  KOKKOS_INLINE_FUNCTION constexpr index_t word_count(index_t n) const { return whole(n) / 32 * bits; }
  /// Bytes of the codes behind the whole blocks of n codes.
  KOKKOS_INLINE_FUNCTION constexpr index_t tail_bytes(index_t n) const { return ((n - whole(n)) * bits + 7) / 8; }
};

/// Packs rows of 32 codes, one after the other, into the words at `out`. A word is written when it is full.
struct RowPacker {
  std::uint32_t* out;
  int bits;
  int shift = 0;
  Lanes<std::uint32_t> word{};

  KOKKOS_FORCEINLINE_FUNCTION void push(const Warp& warp, const Lanes<std::uint32_t>& code) {
    warp.each([&](int l) { word[l] |= code[l] << shift; });
    shift += bits;
    if (shift < 32) return;
    shift -= 32;
    warp.each([&](int l) {
      out[l] = word[l];
      word[l] = code[l] >> (bits - shift);  // the bits that did not fit; 0 if the code ended with the word
    });
    out += warp_lanes;
  }
};

/// Unpacks what RowPacker packed. A word is read when it is needed.
struct RowUnpacker {
  const std::uint32_t* in;
  int bits;
  int shift = 0;
  Lanes<std::uint32_t> word{};

  KOKKOS_FORCEINLINE_FUNCTION void pull(const Warp& warp, Lanes<std::uint32_t>& code) {
    const std::uint32_t mask = (1u << bits) - 1u;
    if (shift == 0) load(warp);
    warp.each([&](int l) { code[l] = word[l] >> shift; });
    shift += bits;
    if (shift >= 32) {
      shift -= 32;
      if (shift > 0) {
        load(warp);
        warp.each([&](int l) { code[l] |= word[l] << (bits - shift); });
      }
    }
    warp.each([&](int l) { code[l] &= mask; });
  }

  /// The next word of every lane.
  KOKKOS_FORCEINLINE_FUNCTION void load(const Warp& warp) {
    warp.each([&](int l) { word[l] = in[l]; });
    in += warp_lanes;
  }
};

inline constexpr int code_rows = 8;  ///< rows of codes that pack_rows() and unpack_rows() handle together

namespace detail {
// Codes of 2, 4 and 8 bits never cross words. Eight rows of 2 bits are half a word: the lower or the upper one.
template <int bits>
inline constexpr int rows_of_word = bits == 2 ? code_rows : 32 / bits;

template <int bits>
KOKKOS_FORCEINLINE_FUNCTION void pack_words(const Warp& warp, RowPacker& packer,
                                            const Lanes<std::uint32_t> (&code)[code_rows]) {
  constexpr int rows = rows_of_word<bits>, words = code_rows / rows;
  GRADCOMP_UNROLL
  for (int w = 0; w < words; ++w) {
    warp.each([&](int l) {
      std::uint32_t word = 0;
      GRADCOMP_UNROLL
      for (int r = 0; r < rows; ++r) word |= code[w * rows + r][l] << (bits * r);
      if constexpr (bits == 2) {
        packer.word[l] |= word << packer.shift;
      } else {
        packer.out[w * warp_lanes + l] = word;
      }
    });
  }
  if constexpr (bits == 2) {
    packer.shift ^= 16;
    if (packer.shift != 0) return;
    warp.each([&](int l) {
      packer.out[l] = packer.word[l];
      packer.word[l] = 0;
    });
  }
  packer.out += words * warp_lanes;
}

template <int bits, class Use>
KOKKOS_FORCEINLINE_FUNCTION void unpack_words(const Warp& warp, RowUnpacker& unpacker, const Use& use) {
  constexpr int rows = rows_of_word<bits>, words = code_rows / rows;
  if constexpr (bits == 2) {
    if (unpacker.shift == 0) unpacker.load(warp);
  }
  const std::uint32_t* const in = unpacker.in;
  warp.each([&](int l) {
    GRADCOMP_UNROLL
    for (int w = 0; w < words; ++w) {
      const std::uint32_t word = bits == 2 ? unpacker.word[l] >> unpacker.shift : in[w * warp_lanes + l];
      GRADCOMP_UNROLL
      for (int r = 0; r < rows; ++r) use(l, (word >> (bits * r)) & ((1u << bits) - 1u), w * rows + r);
    }
  });
  if constexpr (bits == 2) {
    unpacker.shift ^= 16;
  } else {
    unpacker.in += words * warp_lanes;
  }
}
}  // namespace detail

/// Packs eight rows of 32 codes; codes of 2, 4 and 8 bits in registers.
KOKKOS_FORCEINLINE_FUNCTION void pack_rows(const Warp& warp, RowPacker& packer,
                                           const Lanes<std::uint32_t> (&code)[code_rows]) {
  if (packer.bits == 2) {
    detail::pack_words<2>(warp, packer, code);
  } else if (packer.bits == 4) {
    detail::pack_words<4>(warp, packer, code);
  } else if (packer.bits == 8) {
    detail::pack_words<8>(warp, packer, code);
  } else {
    GRADCOMP_UNROLL
    for (int row = 0; row < code_rows; ++row) packer.push(warp, code[row]);
  }
}

/// Calls use(l, code, row) for the next eight rows of 32 codes; codes of 2, 4 and 8 bits are unpacked in registers.
template <class Use>
KOKKOS_FORCEINLINE_FUNCTION void unpack_rows(const Warp& warp, RowUnpacker& unpacker, const Use& use) {
  if (unpacker.bits == 2) {
    detail::unpack_words<2>(warp, unpacker, use);
  } else if (unpacker.bits == 4) {
    detail::unpack_words<4>(warp, unpacker, use);
  } else if (unpacker.bits == 8) {
    detail::unpack_words<8>(warp, unpacker, use);
  } else {
    for (int row = 0; row < code_rows; ++row) {
      Lanes<std::uint32_t> code;
      unpacker.pull(warp, code);
      warp.each([&](int l) { use(l, code[l], row); });
    }
  }
}

/// Byte j of the bit string of the `count` codes at `codes`.
template <class Code>
KOKKOS_INLINE_FUNCTION std::uint8_t tail_byte(const Code* codes, index_t count, int bits, index_t j) {
  std::uint32_t value = 0;
  for (index_t i = 8 * j / bits; i < count && i * bits < 8 * j + 8; ++i) {
    const index_t shift = i * bits - 8 * j;
    const auto code = static_cast<std::uint32_t>(codes[i]);
    value |= shift >= 0 ? code << shift : code >> -shift;
  }
  return static_cast<std::uint8_t>(value);
}

/// Code i of a bit string.
KOKKOS_INLINE_FUNCTION std::uint32_t tail_code(const std::uint8_t* bytes, int bits, index_t i) {
  const index_t bit = i * bits;
  const int shift = static_cast<int>(bit % 8);
  std::uint32_t value = bytes[bit / 8];
  if (shift + bits > 8) value |= static_cast<std::uint32_t>(bytes[bit / 8 + 1]) << 8;
  return (value >> shift) & ((1u << bits) - 1u);
}

}  // namespace gradcomp::kernels
