#pragma once
// Elias codes of the levels that a stochastic quantiser chose (QSGD: Alistarh et al., NeurIPS 2017, section 3.2; BytePS
// uses delta codes). They are made from the quantiser's codes of fixed width, and decoded directly.
//
// A stream has up to 8192 elements: a group, or 4096 elements of a segment without groups. For every element that is
// not zero it holds code(gap) sign code(level). The gap >= 1 counts from the last element that is not zero, or from the
// place before the first element; sign 1 means negative. The code of integers >= 1 is omega or delta (Elias, IEEE
// Trans. Inf. Theory 1975), with bits in their usual order, the first bit lowest in its word. A stream starts at a
// word; bits behind its end are zero.
//
// Sections: the scales, as with codes of fixed width; the number of bits of every stream as u32; the words of the
// streams. Encoding reads the codes twice.
#include "gradcomp/core/read_back.hpp"
#include "gradcomp/kernels/pack/bit_pack.hpp"
#include "gradcomp/kernels/quantise/codecs.hpp"

namespace gradcomp::kernels {

enum class EliasCode : std::uint8_t { omega, delta };
inline constexpr std::uint32_t largest_elias = 8192;  ///< the largest integer that is written or read

/// The code of an integer: its first bit in the stream is the lowest of `bits`.
struct EliasWord {
  std::uint32_t bits, length;
};

/// floor(log2 k), k >= 1
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t log2_floor(std::uint32_t k) {
  return 31u - static_cast<std::uint32_t>(Kokkos::countl_zero(k));
}

/// The lowest `width` bits of x in reverse, 1 <= width <= 32.
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t reverse_bits(std::uint32_t x, std::uint32_t width) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  x = (x >> 8 & 0x00ff00ffu) | (x & 0x00ff00ffu) << 8;
  return (x >> 16 | x << 16) >> (32 - width);
}

/// The code of k, 1 <= k <= largest_elias. Omega: groups of bits, of which the last is the binary form of k and each is
/// the length, minus one, of the next; then a 0. Delta: the length of the binary form of k in gamma code, then the
/// binary form without its first bit.
KOKKOS_INLINE_FUNCTION EliasWord elias_word(EliasCode code, std::uint32_t k) {
  const std::uint32_t log = log2_floor(k);
  if (code == EliasCode::delta) {
    const std::uint32_t size = log2_floor(log + 1);
    const std::uint32_t gamma = reverse_bits(log + 1, size + 1) << size;  // begins with `size` zeros
    const std::uint32_t rest = log == 0 ? 0 : reverse_bits(k, log);       // k without its highest bit
    return {gamma | rest << (2 * size + 1), log + 2 * size + 1};
  }
  EliasWord word{0, 1};  // the 0 at the end
  for (std::uint32_t group = k; group > 1; group = log2_floor(group)) {
    const std::uint32_t width = log2_floor(group) + 1;
    word.bits = word.bits << width | reverse_bits(group, width);
    word.length += width;
  }
  return word;
}

/// Reads one stream. Once something is wrong, `good` stays false.
struct EliasReader {
  const std::uint32_t *word, *end;
  index_t left;  ///< bits of the stream that are left
  std::uint64_t window = 0;
  std::uint32_t held = 0;
  bool good = true;

  KOKKOS_FORCEINLINE_FUNCTION void refill() {
    if (held >= 32 || word == end) return;
    window |= static_cast<std::uint64_t>(*word++) << held;
    held += 32;
  }
  /// The next `width` <= 14 bits; the first becomes the highest.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t take(std::uint32_t width) {
    left -= width;
    good = good && left >= 0 && width <= held;
    if (!good || width == 0) return 0;
    const std::uint32_t value = reverse_bits(static_cast<std::uint32_t>(window) & ((1u << width) - 1u), width);
    window >>= width;
    held -= width;
    return value;
  }
  /// The next integer, 1 .. largest_elias; unspecified if `good` is false.
  KOKKOS_INLINE_FUNCTION std::uint32_t next(EliasCode code) {
    refill();
    std::uint32_t k = 1;
    if (code == EliasCode::delta) {
      std::uint32_t size = 0;
      while (take(1) == 0 && good) good = ++size <= 3;
      const std::uint32_t log = ((1u << (size & 3u)) | take(good ? size : 0)) - 1;
      good = good && log <= 13;
      k = good ? 1u << log | take(log) : 1;
    } else {
      while (good && left > 0 && (window & 1u) != 0) {
        good = k < 14;  // a longer group is an integer above largest_elias
        k = take(good ? k + 1 : 0);
      }
      take(1);
    }
    good = good && k <= largest_elias;
    return k;
  }
  /// Whether the stream has ended, and only zeros follow to the end of its last word.
  KOKKOS_FORCEINLINE_FUNCTION bool ends() const { return good && left == 0 && word == end && held < 32 && window == 0; }
};

/// starts[s] = the first word of stream s, which has bits[s] bits. Returns the number of words of all streams. Waits
/// for exec.
index_t place_streams(const Exec& exec, const std::uint32_t* bits, const Vector<index_t>& starts);

/// Where the streams of a layout are in sections of codes of fixed width (of CodePlan, with one scale per group), and
/// the work space for encoding and decoding.
class EliasPlan {
 public:
  /// `length`: elements of a group, at most 8192; 0: each segment is one group. `code_bits`: the fixed width.
  EliasPlan(const Layout& layout, index_t length, int code_bits, EliasCode code);

  /// Bytes of device memory that the plan owns.
  index_t bytes() const;
  /// Bytes of the sections with codes of fixed width.
  index_t fixed_bytes() const { return 4 * (m_scales + m_words) + m_tail_bytes; }

  /// Codes the sections at `fixed` anew, into `out` (fixed_bytes() of room; both aligned to 4 bytes), and returns the
  /// number of bytes. If this is not smaller than fixed_bytes(), returns 0 and leaves `out` unspecified. Waits for
  /// exec.
  index_t encode(const Exec& exec, const std::byte* fixed, std::byte* out) const;

  /// out += weight * decoded, from `size` bytes at `in` (aligned to 4 bytes). If no encoder can have written them,
  /// returns false and leaves `out` unspecified. Waits for exec.
  template <class Codec>
  bool decode_add(const Exec& exec, const Codec& codec, const std::byte* in, index_t size, float weight,
                  const Span<float>& out) const;

  /// Elements [first, first + count) of the layout; the first of them is `element` of its segment. `group`, `word` and
  /// `tail_byte` are positions in their sections; `whole` codes of the segment are in whole blocks.
  struct Stream {
    index_t first, element, group, word, tail_byte, whole;
    std::int32_t count;
  };

 private:
  EliasCode m_code;
  int m_bits;
  index_t m_scales = 0, m_words = 0, m_tail_bytes = 0;
  Vector<Stream> m_streams;
  Vector<index_t> m_starts;  ///< [streams] first word of each stream
};

/// What decode_add() does with the streams; the number of broken ones. Waits for exec.
template <class Codec>
static index_t decode_streams(const Exec& exec, const Codec& codec, EliasCode code,
                              const Vector<EliasPlan::Stream>& streams, const Vector<index_t>& starts,
                              const float* scales, const std::uint32_t* bits, const std::uint32_t* words, float weight,
                              const Span<float>& out) {
  index_t bad = 0;
  Kokkos::parallel_reduce(
      "gradcomp::kernels::decode_elias", IndexRange(exec, 0, static_cast<index_t>(streams.size())),
      KOKKOS_LAMBDA(index_t s, index_t & sum) {
        const EliasPlan::Stream stream = streams(s);
        const float* const scale = scales + stream.group;
        const auto rule = codec.rule(scale, scale);
        EliasReader reader{words + starts(s), words + starts(s) + (index_t{bits[s]} + 31) / 32, bits[s]};
        reader.good = codec.good(scale);
        for (index_t i = -1; reader.good && reader.left > 0;) {
          i += reader.next(code);
          const std::uint32_t sign = reader.take(1), level = reader.next(code), value = 2 * level - sign;
          reader.good = reader.good && i < stream.count && codec.valid(value);
          if (reader.good) out(stream.first + i) += weight * rule.value(value);
        }
        sum += reader.ends() ? 0 : 1;
      },
      bad);
  wait(exec, "gradcomp::kernels::decode_elias");
  return bad;
}

template <class Codec>
bool EliasPlan::decode_add(const Exec& exec, const Codec& codec, const std::byte* in, index_t size, float weight,
                           const Span<float>& out) const {
  const auto count = static_cast<index_t>(m_streams.size());
  const index_t head = 4 * (m_scales + count), word_count = (size - head) / 4;
  if (size < head || size % 4 != 0) return false;
  const auto* const scales = reinterpret_cast<const float*>(in);
  const auto* const bits = reinterpret_cast<const std::uint32_t*>(in) + m_scales;
  if (place_streams(exec, bits, m_starts) != word_count) return false;
  return decode_streams(exec, codec, m_code, m_streams, m_starts, scales, bits, bits + count, weight, out) == 0;
}

}  // namespace gradcomp::kernels
