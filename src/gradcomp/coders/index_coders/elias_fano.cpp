#include "gradcomp/coders/index_coders/elias_fano.hpp"

#include "gradcomp/coders/chunk_work.hpp"
#include "gradcomp/coders/positions.hpp"

namespace gradcomp::index_coders {
namespace {

index_t elias_fano_words(index_t elements, index_t kept, int width) {
  return kernels::field_words(kept, width) + kernels::field_words(elias_fano_upper_bits(elements, kept, width), 1);
}

index_t elias_fano_bytes(index_t elements, index_t kept) {
  return 4 * elias_fano_words(elements, kept, elias_fano_width(elements, kept));
}

/// The two parts of a section: low bits in fields, upper bits in a bit vector.
struct EliasFano {
  EliasFano(index_t elements, index_t kept)
      : width(elias_fano_width(elements, kept)),
        low_words(kernels::field_words(kept, width)),
        upper_bits(elias_fano_upper_bits(elements, kept, width)),
        upper_words(kernels::field_words(upper_bits, 1)) {}
  int width;
  index_t low_words, upper_bits, upper_words;
};

/// Completes indices[i], which holds the upper bits, by its low bits.
void add_low_bits(const Exec& exec, const kernels::BitFields& low, index_t kept, std::uint32_t* indices) {
  Kokkos::parallel_for(
      "gradcomp::coders::add_low_bits", IndexRange(exec, 0, kept),
      KOKKOS_LAMBDA(index_t i) { indices[i] = (indices[i] << low.width) | low(i); });
}

index_t encode_elias_fano(const Exec& exec, const coders::IndexList& list, const coders::Work& /*work*/,
                          std::byte* out) {
  const EliasFano parts(list.elements, list.kept);
  auto* const words = reinterpret_cast<std::uint32_t*>(out);
  kernels::write_fields("gradcomp::coders::encode_low_bits", exec, coders::Plain{list.indices}, list.kept, parts.width,
                        words);
  coders::write_ones(exec, list, parts.width, 1, parts.upper_words, words + parts.low_words);
  return 4 * (parts.low_words + parts.upper_words);
}

coders::FoundIndices decode_elias_fano(const Exec& exec, const Span<const std::byte>& section, index_t elements,
                                       index_t kept, const coders::Work& work, std::uint32_t* indices) {
  const EliasFano parts(elements, kept);
  const auto* const words = reinterpret_cast<const std::uint32_t*>(section.data());
  const std::uint32_t* const upper = words + parts.low_words;
  if (kernels::count_ones(exec, upper, parts.upper_words, work) != kept) return {};
  kernels::find_ones(exec, upper, parts.upper_words, work, kept, kernels::OneIs::zeros_before, indices);
  add_low_bits(exec, {words, parts.width}, kept, indices);
  return {indices, {words, kept * parts.width}, {upper, parts.upper_bits}};
}

}  // namespace

int elias_fano_width(index_t elements, index_t kept) {
  int best = 0;
  for (int width = 1; width < 32; ++width)
    if (elias_fano_words(elements, kept, width) < elias_fano_words(elements, kept, best)) best = width;
  return best;
}

coders::IndexCoderEntry elias_fano() {
  coders::IndexCoderEntry entry;
  entry.name = "elias_fano";
  entry.id = 5;
  entry.summary = "low bits in fields, upper bits in a bit vector";
  entry.size = "about k (2 + log2(n / k)) / 8";
  entry.max_bytes = elias_fano_bytes;
  entry.work = coders::chunk_work;
  entry.encode = encode_elias_fano;
  entry.decode = decode_elias_fano;
  return entry;
}

}  // namespace gradcomp::index_coders
