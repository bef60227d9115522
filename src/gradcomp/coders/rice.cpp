// Gaps as Rice codes in split streams: remainders of fixed width, quotients in unary.
#include "gradcomp/coders/gaps.hpp"
#include "gradcomp/core/read_back.hpp"
#include "gradcomp/kernels/pack/bit_vector.hpp"

namespace gradcomp::coders {

using kernels::entries_per_chunk;
using kernels::entry_chunks;
using kernels::field_words;

index_t encode_rice(const Exec& exec, const std::uint32_t* indices, index_t elements, index_t kept,
                    const Vector<std::uint64_t>& starts, std::uint32_t* out) {
  const int width = rice_width(elements, kept);
  const index_t chunks = entry_chunks(kept);
  const Gaps gap{indices};
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

namespace {

/// Whether the words end where they must: no stray bit behind the remainders, the last one in the last word.
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

}  // namespace

bool decode_rice(const Exec& exec, const Span<const std::byte>& section, index_t elements, index_t kept,
                 const Vector<std::uint64_t>& starts, std::uint32_t* indices) {
  const int width = rice_width(elements, kept);
  const auto* const words = reinterpret_cast<const std::uint32_t*>(section.data());
  const index_t fixed = field_words(kept, width), unary = static_cast<index_t>(section.size()) / 4 - fixed;
  if (unary < field_words(kept, 1) || !ends_well(exec, {words, kept * width}, words + fixed + unary - 1)) return false;
  if (kernels::count_ones(exec, words + fixed, unary, starts) != kept) return false;
  kernels::find_ones(exec, words + fixed, unary, starts, kept, kernels::OneIs::zeros_before, indices);
  sum_gaps(exec, {words, width}, indices, kept, starts, indices);
  return true;
}

}  // namespace gradcomp::coders
