// delta: for each index, the difference to the index before (to -1 for the first), minus one, as a LEB128 varint of 1
// to 5 bytes in its shortest form (7 bits per byte, low bits first); then zero bytes up to a multiple of 4.
#include <algorithm>

#include "gradcomp/coders/chunk_work.hpp"
#include "gradcomp/coders/gaps.hpp"
#include "gradcomp/coders/index_coding.hpp"
#include "gradcomp/core/payload.hpp"
#include "gradcomp/core/read_back.hpp"

namespace gradcomp::index_coders {

using coders::Gaps;
using kernels::entries_per_chunk;
using kernels::entry_chunks;

namespace {

constexpr index_t bytes_per_chunk = 4 * kernels::words_per_chunk;

/// The last byte of a varint has its high bit clear.
KOKKOS_FORCEINLINE_FUNCTION bool is_last(std::uint8_t byte) { return byte < 0x80; }

struct Varint {
  std::uint32_t value = 0;
  bool good = false;  ///< it is complete, in the shortest form, and has at most 32 bits
};

/// The varint that starts at bytes[at].
KOKKOS_INLINE_FUNCTION Varint read_varint(const std::uint8_t* bytes, index_t at, index_t end) {
  std::uint64_t value = 0;
  for (int i = 0; i < 5 && at + i < end; ++i) {
    const std::uint8_t byte = bytes[at + i];
    value |= static_cast<std::uint64_t>(byte & 0x7fu) << (7 * i);
    if (is_last(byte)) return {static_cast<std::uint32_t>(value), value <= 0xffffffffu && (i == 0 || byte != 0)};
  }
  return {};
}

/// starts(c) = the number of varints that end before chunk c of the bytes. Returns the number of all.
index_t count_varints(const Exec& exec, const std::uint8_t* bytes, index_t size, const Vector<std::uint64_t>& starts) {
  const index_t chunks = (size + bytes_per_chunk - 1) / bytes_per_chunk;
  Kokkos::parallel_for(
      "gradcomp::coders::count_varints", IndexRange(exec, 0, chunks), KOKKOS_LAMBDA(index_t c) {
        const index_t end = Kokkos::min(size, (c + 1) * bytes_per_chunk);
        std::uint64_t count = 0;
        for (index_t i = c * bytes_per_chunk; i < end; ++i) count += is_last(bytes[i]) ? 1 : 0;
        starts(c) = count;
      });
  return kernels::exclusive_scan(exec, starts, chunks);
}

/// Reads the varints that start in each chunk. Those after the first `kept` are padding. Returns how many are wrong.
index_t read_varints(const Exec& exec, const std::uint8_t* bytes, index_t size, index_t kept,
                     const Vector<std::uint64_t>& starts, std::uint32_t* gaps) {
  index_t bad = 0;
  Kokkos::parallel_reduce(
      "gradcomp::coders::read_varints", IndexRange(exec, 0, (size + bytes_per_chunk - 1) / bytes_per_chunk),
      KOKKOS_LAMBDA(index_t c, index_t & wrong) {
        const index_t first = c * bytes_per_chunk, end = Kokkos::min(size, first + bytes_per_chunk);
        auto rank = static_cast<index_t>(starts(c));
        bool is_start = first == 0 || is_last(bytes[first - 1]);
        if (!is_start) ++rank;  // a varint that began in an earlier chunk ends here before the first that starts here
        for (index_t i = first; i < end; ++i) {
          if (is_start) {
            const Varint varint = read_varint(bytes, i, size);
            if (!varint.good || (rank >= kept && bytes[i] != 0)) ++wrong;
            if (rank < kept) gaps[rank] = varint.value;
            ++rank;
          }
          is_start = is_last(bytes[i]);
        }
      },
      bad);
  wait(exec, "gradcomp::coders::read_varints");
  return bad;
}

index_t encode_delta(const Exec& exec, const coders::IndexList& list, const coders::Work& starts, std::byte* section) {
  const index_t kept = list.kept, chunks = entry_chunks(kept);
  const Gaps gap{list.indices};
  auto* const out = reinterpret_cast<std::uint8_t*>(section);
  Kokkos::parallel_for(
      "gradcomp::coders::measure_varints", IndexRange(exec, 0, chunks), KOKKOS_LAMBDA(index_t c) {
        const index_t end = Kokkos::min(kept, (c + 1) * entries_per_chunk);
        std::uint64_t sum = 0;
        for (index_t i = c * entries_per_chunk; i < end; ++i)
          sum += static_cast<std::uint64_t>(coders::varint_bytes(gap(i)));
        starts(c) = sum;
      });
  const index_t size = kernels::exclusive_scan(exec, starts, chunks), padded = padded_bytes(size);
  Kokkos::parallel_for(
      "gradcomp::coders::write_varints", IndexRange(exec, 0, chunks), KOKKOS_LAMBDA(index_t c) {
        const index_t end = Kokkos::min(kept, (c + 1) * entries_per_chunk);
        auto at = static_cast<index_t>(starts(c));
        for (index_t i = c * entries_per_chunk; i < end; ++i) {
          std::uint32_t rest = gap(i);
          for (; rest >= 0x80; rest >>= 7) out[at++] = static_cast<std::uint8_t>(rest | 0x80u);
          out[at++] = static_cast<std::uint8_t>(rest);
        }
        if (c == chunks - 1)
          for (; at < padded; ++at) out[at] = 0;
      });
  return padded;
}

coders::FoundIndices decode_delta(const Exec& exec, const Span<const std::byte>& section, index_t /*elements*/,
                                  index_t kept, const coders::Work& starts, std::uint32_t* indices) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(section.data());
  const auto size = static_cast<index_t>(section.size());
  const index_t found = count_varints(exec, bytes, size, starts);
  if (found < kept || found > kept + 3) return {};  // zero bytes of padding are varints too
  if (read_varints(exec, bytes, size, kept, starts, indices) > 0) return {};
  coders::sum_gaps(exec, {indices, 32}, nullptr, kept, starts, indices);
  return {indices};
}

/// One byte per entry, and one more for each of 2^7, 2^14, 2^21, 2^28 that a gap reaches. At most elements / 2^7 gaps
/// can reach 2^7, and so on, since all gaps sum to less than `elements`.
index_t max_delta_bytes(index_t elements, index_t kept) {
  index_t bytes = kept;
  for (const int bits : {7, 14, 21, 28}) bytes += std::min(kept, elements >> bits);
  return padded_bytes(bytes);
}

index_t delta_bytes(const Exec& exec, const coders::IndexList& list) {
  return padded_bytes(coders::gap_sums(exec, list).varint_bytes);
}

}  // namespace

coders::IndexCoderEntry delta() {
  coders::IndexCoderEntry entry;
  entry.name = "delta";
  entry.id = 3;
  entry.summary = "gaps in 1 to 5 bytes each";
  entry.size = "k to 5 k";
  entry.max_bytes = max_delta_bytes;
  entry.bytes = delta_bytes;
  entry.work = coders::chunk_work;
  entry.encode = encode_delta;
  entry.decode = decode_delta;
  return entry;
}

}  // namespace gradcomp::index_coders
