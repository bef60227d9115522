#include "gradcomp/coders/index_coders/rice.hpp"

#include <algorithm>

#include "gradcomp/coders/chunk_work.hpp"
#include "gradcomp/coders/gaps.hpp"
#include "gradcomp/core/read_back.hpp"

namespace gradcomp::index_coders {

using coders::Gaps;
using kernels::entries_per_chunk;
using kernels::entry_chunks;
using kernels::field_words;

int rice_width(index_t elements, index_t kept) {
  // b = 1 + floor(log2(ln(golden ratio) / -ln(1 - p))) with p = kept / elements. Because 1 / -ln(1 - p) is about
  // 1 / p - 1 / 2, and 2 ln(golden ratio) = 0.9624 is about 493 / 512, b is the largest number with
  // 2^b <= 493 / 512 (1 / p - 1 / 2)
  int width = 0;
  while (width < 31 && (kept << (width + 2)) * 512 <= (2 * elements - kept) * 493) ++width;
  return width;
}

namespace {

index_t encode_rice(const Exec& exec, const coders::IndexList& list, const coders::Work& starts, std::byte* section) {
  const index_t kept = list.kept, chunks = entry_chunks(kept);
  const int width = rice_width(list.elements, kept);
  const Gaps gap{list.indices};
  auto* const out = reinterpret_cast<std::uint32_t*>(section);
  kernels::write_fields("gradcomp::coders::write_remainders", exec, gap, kept, width, out);
  Kokkos::parallel_for(
      "gradcomp::coders::measure_quotients", IndexRange(exec, 0, chunks), KOKKOS_LAMBDA(index_t c) {
        const index_t end = Kokkos::min(kept, (c + 1) * entries_per_chunk);
        std::uint64_t sum = 0;
        for (index_t i = c * entries_per_chunk; i < end; ++i) sum += (gap(i) >> width) + std::uint64_t{1};
        starts(c) = sum;
      });
  const index_t unary_words = field_words(kernels::exclusive_scan(exec, starts, chunks), 1);
  std::uint32_t* const unary = out + field_words(kept, width);
  Kokkos::deep_copy(exec, Span<std::uint32_t>(unary, static_cast<std::size_t>(unary_words)), 0u);
  Kokkos::parallel_for(
      "gradcomp::coders::write_quotients", IndexRange(exec, 0, chunks), KOKKOS_LAMBDA(index_t c) {
        const index_t end = Kokkos::min(kept, (c + 1) * entries_per_chunk);
        kernels::BitWriter writer(unary);
        std::uint64_t at = starts(c);
        for (index_t i = c * entries_per_chunk; i < end; ++i) {
          at += gap(i) >> width;
          writer.set(at++);
        }
        writer.finish();
      });
  return 4 * (field_words(kept, width) + unary_words);
}

/// Whether the words end as an encoder ends them: bits behind the remainders are zero, and the last word of the unary
/// part is not.
bool ends_well(const Exec& exec, const kernels::BitString& remainders, const std::uint32_t* last_unary) {
  index_t wrong = 0;
  Kokkos::parallel_reduce(
      "gradcomp::coders::rice_ends", IndexRange(exec, 0, 1),
      KOKKOS_LAMBDA(index_t, index_t & sum) {
        sum += remainders.is_padded_wrongly() ? 1 : 0;
        sum += *last_unary == 0 ? 1 : 0;
      },
      wrong);
  wait(exec, "gradcomp::coders::rice_ends");
  return wrong == 0;
}

coders::FoundIndices decode_rice(const Exec& exec, const Span<const std::byte>& section, index_t elements, index_t kept,
                                 const coders::Work& starts, std::uint32_t* indices) {
  const int width = rice_width(elements, kept);
  const auto* const words = reinterpret_cast<const std::uint32_t*>(section.data());
  const index_t fixed = field_words(kept, width), unary = static_cast<index_t>(section.size()) / 4 - fixed;
  if (unary < field_words(kept, 1) || !ends_well(exec, {words, kept * width}, words + fixed + unary - 1)) return {};
  if (kernels::count_ones(exec, words + fixed, unary, starts) != kept) return {};
  kernels::find_ones(exec, words + fixed, unary, starts, kept, kernels::OneIs::zeros_before, indices);
  coders::sum_gaps(exec, {words, width}, indices, kept, starts, indices);
  return {indices};
}

/// The quotients sum to at most (elements - kept) / 2^width, since the gaps sum to at most elements - kept.
index_t max_rice_bytes(index_t elements, index_t kept) {
  const int width = rice_width(elements, kept);
  return 4 * (field_words(kept, width) + field_words(kept + ((elements - kept) >> width), 1));
}

index_t rice_bytes(const Exec& exec, const coders::IndexList& list) {
  const int width = rice_width(list.elements, list.kept);
  const index_t quotients = coders::gap_sums(exec, list).quotients;
  return 4 * (field_words(list.kept, width) + field_words(list.kept + quotients, 1));
}

/// The largest kept <= capacity whose remainders have at least `width` bits; the width falls as kept grows.
index_t last_with_rice_width(index_t elements, index_t capacity, int width) {
  index_t low = 0, high = capacity;
  while (low < high) {
    const index_t middle = (low + high + 1) / 2;
    const bool is_wide = rice_width(elements, middle) >= width;
    low = is_wide ? middle : low;
    high = is_wide ? high : middle - 1;
  }
  return low;
}

/// For one width, the bound grows with kept, but it may fall where the width changes. So the maximum is at the largest
/// kept of some width.
index_t rice_capacity_bytes(index_t elements, index_t capacity) {
  index_t most = 0;
  for (int width = 0; width < 32; ++width) {
    const index_t kept = last_with_rice_width(elements, capacity, width);
    if (kept > 0) most = std::max(most, max_rice_bytes(elements, kept));
  }
  return most;
}

}  // namespace

coders::IndexCoderEntry rice() {
  coders::IndexCoderEntry entry;
  entry.name = "rice";
  entry.id = 4;
  entry.summary = "gaps in a fixed number of bits and a unary rest";
  entry.size = "about k (1.5 + log2(n / k)) / 8";
  entry.max_bytes = max_rice_bytes;
  entry.capacity_bytes = rice_capacity_bytes;
  entry.bytes = rice_bytes;
  entry.work = coders::chunk_work;
  entry.encode = encode_rice;
  entry.decode = decode_rice;
  return entry;
}

}  // namespace gradcomp::index_coders
