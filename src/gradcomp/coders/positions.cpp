#include "gradcomp/coders/positions.hpp"

#include "gradcomp/kernels/pack/bit_vector.hpp"

namespace gradcomp::coders {

using kernels::BitFields;
using kernels::entries_per_chunk;
using kernels::field_words;
using kernels::OneIs;

namespace {

/// Index i itself: what packed and Elias-Fano write the low bits of.
struct Plain {
  const std::uint32_t* indices;
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t operator()(index_t i) const { return indices[i]; }
};

/// Entry i sets bit (index >> shift) + i rank, of `count` words: bitmap with shift 0 and rank 0, Elias-Fano with
/// rank 1.
void write_ones(const Exec& exec, const std::uint32_t* indices, index_t kept, int shift, index_t rank, index_t count,
                std::uint32_t* words) {
  Kokkos::deep_copy(exec, Span<std::uint32_t>(words, static_cast<std::size_t>(count)), 0u);
  Kokkos::parallel_for(
      "gradcomp::coders::write_ones", IndexRange(exec, 0, kernels::entry_chunks(kept)), KOKKOS_LAMBDA(index_t c) {
        const index_t end = Kokkos::min(kept, (c + 1) * entries_per_chunk);
        kernels::BitWriter writer(words);
        for (index_t i = c * entries_per_chunk; i < end; ++i)
          writer.set(static_cast<std::uint64_t>((indices[i] >> shift) + i * rank));
        writer.finish();
      });
}

/// indices[i], so far the upper bits, becomes the whole index.
void add_low_bits(const Exec& exec, const BitFields& low, index_t kept, std::uint32_t* indices) {
  Kokkos::parallel_for(
      "gradcomp::coders::add_low_bits", IndexRange(exec, 0, kept),
      KOKKOS_LAMBDA(index_t i) { indices[i] = (indices[i] << low.width) | low(i); });
}

/// Low bits in fields, upper bits in a bit vector.
struct EliasFano {
  EliasFano(index_t elements, index_t kept)
      : width(elias_fano_width(elements, kept)),
        low_words(field_words(kept, width)),
        upper_bits(elias_fano_upper_bits(elements, kept, width)),
        upper_words(field_words(upper_bits, 1)) {}
  int width;
  index_t low_words, upper_bits, upper_words;
};

}  // namespace

void encode_packed(const Exec& exec, const std::uint32_t* indices, index_t elements, index_t kept, std::uint32_t* out) {
  kernels::write_fields("gradcomp::coders::encode_packed", exec, Plain{indices}, kept, packed_width(elements), out);
}

void encode_bitmap(const Exec& exec, const std::uint32_t* indices, index_t elements, index_t kept, std::uint32_t* out) {
  write_ones(exec, indices, kept, 0, 0, field_words(elements, 1), out);
}

void encode_elias_fano(const Exec& exec, const std::uint32_t* indices, index_t elements, index_t kept,
                       std::uint32_t* out) {
  const EliasFano parts(elements, kept);
  kernels::write_fields("gradcomp::coders::encode_low_bits", exec, Plain{indices}, kept, parts.width, out);
  write_ones(exec, indices, kept, parts.width, 1, parts.upper_words, out + parts.low_words);
}

Positions decode_packed(const Exec& exec, const std::uint32_t* words, index_t elements, index_t kept,
                        std::uint32_t* indices) {
  const BitFields fields{words, packed_width(elements)};
  Kokkos::parallel_for(
      "gradcomp::coders::decode_packed", IndexRange(exec, 0, kept),
      KOKKOS_LAMBDA(index_t i) { indices[i] = fields(i); });
  return {true, {words, kept * fields.width}, {}};
}

Positions decode_bitmap(const Exec& exec, const std::uint32_t* words, index_t elements, index_t kept,
                        const Vector<std::uint64_t>& starts, std::uint32_t* indices) {
  const index_t count = field_words(elements, 1);
  if (kernels::count_ones(exec, words, count, starts) != kept) return {false, {}, {}};
  kernels::find_ones(exec, words, count, starts, kept, OneIs::position, indices);
  return {true, {words, elements}, {}};
}

Positions decode_elias_fano(const Exec& exec, const std::uint32_t* words, index_t elements, index_t kept,
                            const Vector<std::uint64_t>& starts, std::uint32_t* indices) {
  const EliasFano parts(elements, kept);
  const std::uint32_t* const upper = words + parts.low_words;
  if (kernels::count_ones(exec, upper, parts.upper_words, starts) != kept) return {false, {}, {}};
  kernels::find_ones(exec, upper, parts.upper_words, starts, kept, OneIs::zeros_before, indices);
  add_low_bits(exec, {words, parts.width}, kept, indices);
  return {true, {words, kept * parts.width}, {upper, parts.upper_bits}};
}

}  // namespace gradcomp::coders
