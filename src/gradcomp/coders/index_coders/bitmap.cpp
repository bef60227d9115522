// bitmap: bit i is set if index i is kept; ceil(elements / 32) words.
#include "gradcomp/coders/chunk_work.hpp"
#include "gradcomp/coders/index_coding.hpp"
#include "gradcomp/coders/positions.hpp"

namespace gradcomp::index_coders {
namespace {

index_t bitmap_bytes(index_t elements, index_t /*kept*/) { return 4 * kernels::field_words(elements, 1); }

index_t encode_bitmap(const Exec& exec, const coders::IndexList& list, const coders::Work& /*work*/, std::byte* out) {
  coders::write_ones(exec, list, 0, 0, kernels::field_words(list.elements, 1), reinterpret_cast<std::uint32_t*>(out));
  return bitmap_bytes(list.elements, list.kept);
}

coders::FoundIndices decode_bitmap(const Exec& exec, const Span<const std::byte>& section, index_t elements,
                                   index_t kept, const coders::Work& work, std::uint32_t* indices) {
  const auto* const words = reinterpret_cast<const std::uint32_t*>(section.data());
  const index_t count = kernels::field_words(elements, 1);
  if (kernels::count_ones(exec, words, count, work) != kept) return {};
  kernels::find_ones(exec, words, count, work, kept, kernels::OneIs::position, indices);
  return {indices, {words, elements}};
}

}  // namespace

coders::IndexCoderEntry bitmap() {
  coders::IndexCoderEntry entry;
  entry.name = "bitmap";
  entry.id = 2;
  entry.summary = "one bit for every element of the bucket";
  entry.size = "n / 8";
  entry.max_bytes = bitmap_bytes;
  entry.work = coders::chunk_work;
  entry.encode = encode_bitmap;
  entry.decode = decode_bitmap;
  return entry;
}

}  // namespace gradcomp::index_coders
