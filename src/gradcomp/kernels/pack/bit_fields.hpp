#pragma once
// Unsigned fields of one width, 0 to 32 bits, as a bit string in 32-bit words, least significant bit first. 32 fields
// of w bits fill w words, so no word belongs to two groups of 32 fields. Bits behind the last field are zero. A work
// item writes one word or reads one field, and needs no result of another.
#include <string>

#include "gradcomp/core/types.hpp"

namespace gradcomp::kernels {

/// Words of `count` fields of `width` bits.
constexpr index_t field_words(index_t count, int width) { return (count * width + 31) / 32; }

/// A mask of the `width` lowest bits, 0 <= width <= 32.
KOKKOS_FORCEINLINE_FUNCTION constexpr std::uint32_t low_mask(int width) {
  return width >= 32 ? 0xffffffffu : (1u << width) - 1u;
}

/// Reads field i, and accesses only the words that hold it.
struct BitFields {
  const std::uint32_t* words = nullptr;
  int width = 0;

  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t operator()(index_t i) const {
    if (width == 0) return 0;
    const index_t bit = i * width;
    const int shift = static_cast<int>(bit % 32);
    const std::uint32_t* const word = words + bit / 32;
    std::uint64_t both = word[0];
    if (shift + width > 32) both |= static_cast<std::uint64_t>(word[1]) << 32;
    return static_cast<std::uint32_t>(both >> shift) & low_mask(width);
  }
};

/// A bit string of `bits` bits in whole words.
struct BitString {
  const std::uint32_t* words = nullptr;
  index_t bits = 0;

  /// Whether a bit behind the last one is set.
  KOKKOS_FORCEINLINE_FUNCTION bool is_padded_wrongly() const {
    return bits % 32 != 0 && (words[bits / 32] >> (bits % 32)) != 0;
  }
};

/// Writes field_words(count, width) words: field i holds the low bits of value(i).
template <class Value>
static void write_fields(const std::string& label, const Exec& exec, const Value& value, index_t count, int width,
                         std::uint32_t* words) {
  if (width == 0) return;
  const std::uint32_t mask = low_mask(width);
  Kokkos::parallel_for(
      label, IndexRange(exec, 0, field_words(count, width)), KOKKOS_LAMBDA(index_t w) {
        std::uint32_t word = 0;
        for (index_t i = 32 * w / width; i < count && i * width < 32 * w + 32; ++i) {
          const auto shift = static_cast<int>(i * width - 32 * w);
          const std::uint32_t field = value(i) & mask;
          word |= shift >= 0 ? field << shift : field >> -shift;
        }
        words[w] = word;
      });
}

}  // namespace gradcomp::kernels
