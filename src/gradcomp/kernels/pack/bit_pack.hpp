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

 private:
  KOKKOS_FORCEINLINE_FUNCTION void load(const Warp& warp) {
    warp.each([&](int l) { word[l] = in[l]; });
    in += warp_lanes;
  }
};

namespace detail {
template <int bits, class Use>
KOKKOS_FORCEINLINE_FUNCTION void unpack_words(const Warp& warp, const std::uint32_t* in, const Use& use) {
  constexpr int rows = 32 / bits, words = 8 / rows;
  warp.each([&](int l) {
    GRADCOMP_UNROLL
    for (int w = 0; w < words; ++w) {
      const std::uint32_t word = in[w * warp_lanes + l];
      GRADCOMP_UNROLL
      for (int r = 0; r < rows; ++r) use(l, (word >> (bits * r)) & ((1u << bits) - 1u), w * rows + r);
    }
  });
}
}  // namespace detail

/// Calls use(l, code, row) for the next 8 rows of 32 codes. Codes of 4 and 8 bits, which never cross words, are
/// unpacked in registers.
template <class Use>
KOKKOS_FORCEINLINE_FUNCTION void unpack_rows(const Warp& warp, RowUnpacker& unpacker, const Use& use) {
  if (unpacker.bits == 4) {
    detail::unpack_words<4>(warp, unpacker.in, use);
    unpacker.in += warp_lanes;
  } else if (unpacker.bits == 8) {
    detail::unpack_words<8>(warp, unpacker.in, use);
    unpacker.in += 2 * warp_lanes;
  } else {
    for (int row = 0; row < 8; ++row) {
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
