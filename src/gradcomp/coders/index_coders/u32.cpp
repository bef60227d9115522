// u32: each index in 4 bytes.
#include "gradcomp/coders/index_coding.hpp"

namespace gradcomp::index_coders {
namespace {

index_t u32_bytes(index_t /*elements*/, index_t kept) { return 4 * kept; }

index_t encode_u32(const Exec& exec, const coders::IndexList& list, const coders::Work& /*work*/, std::byte* out) {
  auto* const words = reinterpret_cast<std::uint32_t*>(out);
  const auto count = static_cast<std::size_t>(list.kept);
  if (list.indices != words)
    Kokkos::deep_copy(exec, Span<std::uint32_t>(words, count), Span<const std::uint32_t>(list.indices, count));
  return 4 * list.kept;
}

coders::FoundIndices decode_u32(const Exec& /*exec*/, const Span<const std::byte>& section, index_t /*elements*/,
                                index_t /*kept*/, const coders::Work& /*work*/, std::uint32_t* /*indices*/) {
  return {reinterpret_cast<const std::uint32_t*>(section.data())};
}

}  // namespace

coders::IndexCoderEntry u32() {
  coders::IndexCoderEntry entry;
  entry.name = "u32";
  entry.id = 0;
  entry.summary = "every index as it is";
  entry.size = "4 k";
  entry.in_place = true;
  entry.max_bytes = u32_bytes;
  entry.encode = encode_u32;
  entry.decode = decode_u32;
  return entry;
}

}  // namespace gradcomp::index_coders
