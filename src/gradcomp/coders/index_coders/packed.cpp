// packed: each index in ceil(log2 elements) bits, all in one bit string (kernels/pack/bit_fields.hpp).
#include <bit>

#include "gradcomp/coders/index_coding.hpp"
#include "gradcomp/coders/positions.hpp"

namespace gradcomp::index_coders {
namespace {

/// Width of a field, 0 for a single element.
int packed_width(index_t elements) {
  return elements <= 1 ? 0 : std::bit_width(static_cast<std::uint64_t>(elements - 1));
}

index_t packed_bytes(index_t elements, index_t kept) { return 4 * kernels::field_words(kept, packed_width(elements)); }

index_t encode_packed(const Exec& exec, const coders::IndexList& list, const coders::Work& /*work*/, std::byte* out) {
  kernels::write_fields("gradcomp::coders::encode_packed", exec, coders::Plain{list.indices}, list.kept,
                        packed_width(list.elements), reinterpret_cast<std::uint32_t*>(out));
  return packed_bytes(list.elements, list.kept);
}

coders::FoundIndices decode_packed(const Exec& exec, const Span<const std::byte>& section, index_t elements,
                                   index_t kept, const coders::Work& /*work*/, std::uint32_t* indices) {
  const auto* const words = reinterpret_cast<const std::uint32_t*>(section.data());
  const kernels::BitFields fields{words, packed_width(elements)};
  Kokkos::parallel_for(
      "gradcomp::coders::decode_packed", IndexRange(exec, 0, kept),
      KOKKOS_LAMBDA(index_t i) { indices[i] = fields(i); });
  return {indices, {words, kept * fields.width}};
}

}  // namespace

coders::IndexCoderEntry packed() {
  coders::IndexCoderEntry entry;
  entry.name = "packed";
  entry.id = 1;
  entry.summary = "every index in as few bits as the largest possible one needs";
  entry.size = "k ceil(log2 n) / 8";
  entry.max_bytes = packed_bytes;
  entry.encode = encode_packed;
  entry.decode = decode_packed;
  return entry;
}

}  // namespace gradcomp::index_coders
