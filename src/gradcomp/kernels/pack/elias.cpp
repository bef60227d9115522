#include "gradcomp/kernels/pack/elias.hpp"

#include <algorithm>

#include "gradcomp/core/read_back.hpp"
#include "gradcomp/kernels/lanes/arrays.hpp"
#include "gradcomp/kernels/quantise/group_ranges.hpp"

namespace gradcomp::kernels {
namespace {

/// Reads codes of fixed width, element by element.
struct FixedCodes {
  const std::uint32_t* words;
  const std::uint8_t* tails;
  CodeBlock block;

  /// The code of element e of the segment of the stream.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t operator()(const EliasPlan::Stream& stream, index_t e) const {
    if (e >= stream.whole) return tail_code(tails + stream.tail_byte, block.bits, e - stream.whole);
    const index_t inside = e % block.codes();
    const auto bit = static_cast<int>(inside / warp_lanes) * block.bits;
    const int shift = bit % 32;
    const std::uint32_t* const word = words + stream.word + e / block.codes() * (index_t{block.words} * warp_lanes) +
                                      index_t{bit / 32} * warp_lanes + inside % warp_lanes;
    std::uint32_t value = word[0] >> shift;
    if (shift + block.bits > 32) value |= word[warp_lanes] << (32 - shift);
    return value & ((1u << block.bits) - 1u);
  }
};

/// Calls f(gap, negative, level) for every element of the stream that is not zero.
template <class F>
KOKKOS_FORCEINLINE_FUNCTION void for_levels(const FixedCodes& codes, const EliasPlan::Stream& stream, const F& f) {
  index_t last = -1;
  for (index_t i = 0; i < stream.count; ++i) {
    const std::uint32_t code = codes(stream, stream.element + i);
    if (code == 0) continue;
    f(static_cast<std::uint32_t>(i - last), code & 1u, (code + 1) >> 1);
    last = i;
  }
}

void count_bits(const Exec& exec, const Vector<EliasPlan::Stream>& streams, const FixedCodes& codes, EliasCode code,
                std::uint32_t* bits) {
  Kokkos::parallel_for(
      "gradcomp::kernels::elias_bits", IndexRange(exec, 0, static_cast<index_t>(streams.size())),
      KOKKOS_LAMBDA(index_t s) {
        std::uint32_t sum = 0;
        for_levels(codes, streams(s), [&](std::uint32_t gap, std::uint32_t, std::uint32_t level) {
          sum += elias_word(code, gap).length + 1 + elias_word(code, level).length;
        });
        bits[s] = sum;
      });
}

void write_streams(const Exec& exec, const Vector<EliasPlan::Stream>& streams, const FixedCodes& codes, EliasCode code,
                   const Vector<index_t>& starts, std::uint32_t* words) {
  Kokkos::parallel_for(
      "gradcomp::kernels::write_elias", IndexRange(exec, 0, static_cast<index_t>(streams.size())),
      KOKKOS_LAMBDA(index_t s) {
        std::uint32_t* out = words + starts(s);
        std::uint64_t window = 0;
        std::uint32_t held = 0;
        const auto push = [&](const EliasWord& word) {
          window |= static_cast<std::uint64_t>(word.bits) << held;
          held += word.length;
          if (held < 32) return;
          *out++ = static_cast<std::uint32_t>(window);
          window >>= 32;
          held -= 32;
        };
        for_levels(codes, streams(s), [&](std::uint32_t gap, std::uint32_t negative, std::uint32_t level) {
          push(elias_word(code, gap));
          push({negative, 1});
          push(elias_word(code, level));
        });
        if (held > 0) *out = static_cast<std::uint32_t>(window);
      });
}

}  // namespace

EliasPlan::EliasPlan(const Layout& layout, index_t length, int code_bits, EliasCode code)
    : m_code(code), m_bits(code_bits), m_scales(group_count(layout, length)) {
  const CodeBlock block(code_bits);
  const index_t max_stream = length > 0 ? length : index_t{tile_size};
  std::vector<Stream> list;
  index_t group = 0;
  for (const auto& segment : layout.segments) {
    const index_t whole = block.whole(segment.count);
    for (index_t e = 0; e < segment.count; e += max_stream) {
      list.push_back({segment.offset + e, e, group + group_of(e, length), m_words, m_tail_bytes, whole,
                      static_cast<std::int32_t>(std::min(max_stream, segment.count - e))});
    }
    group += group_count(segment.count, length);
    m_words += block.word_count(segment.count);
    m_tail_bytes += block.tail_bytes(segment.count);
  }
  m_streams = upload("gradcomp::kernels::elias_streams", list);
  m_starts = Vector<index_t>("gradcomp::kernels::elias_starts", list.size());
}

index_t EliasPlan::bytes() const {
  return static_cast<index_t>(m_streams.size() * sizeof(Stream) + m_starts.size() * sizeof(index_t));
}

index_t place_streams(const Exec& exec, const std::uint32_t* bits, const Vector<index_t>& starts) {
  index_t total = 0;
  Kokkos::parallel_scan(
      "gradcomp::kernels::elias_starts", IndexRange(exec, 0, static_cast<index_t>(starts.size())),
      KOKKOS_LAMBDA(index_t s, index_t & sum, bool last) {
        if (last) starts(s) = sum;
        sum += (index_t{bits[s]} + 31) / 32;
      },
      total);
  wait(exec, "gradcomp::kernels::elias_starts");
  return total;
}

index_t EliasPlan::encode(const Exec& exec, const std::byte* fixed, std::byte* out) const {
  const auto count = static_cast<index_t>(m_streams.size());
  const index_t head = 4 * (m_scales + count);
  if (head >= fixed_bytes()) return 0;
  auto* const scales = reinterpret_cast<std::uint32_t*>(out);
  std::uint32_t* const bits = scales + m_scales;
  const auto* const words = reinterpret_cast<const std::uint32_t*>(fixed) + m_scales;
  const FixedCodes codes{words, reinterpret_cast<const std::uint8_t*>(words + m_words), CodeBlock(m_bits)};
  count_bits(exec, m_streams, codes, m_code, bits);
  const index_t size = head + 4 * place_streams(exec, bits, m_starts);
  if (size >= fixed_bytes()) return 0;
  const auto scale_count = static_cast<std::size_t>(m_scales);
  Kokkos::deep_copy(exec, Span<std::uint32_t>(scales, scale_count),
                    Span<const std::uint32_t>(reinterpret_cast<const std::uint32_t*>(fixed), scale_count));
  write_streams(exec, m_streams, codes, m_code, m_starts, bits + count);
  return size;
}

}  // namespace gradcomp::kernels
