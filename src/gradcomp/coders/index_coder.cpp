#include "gradcomp/coders/index_coder.hpp"

#include <algorithm>

#include "gradcomp/coders/gaps.hpp"
#include "gradcomp/coders/positions.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/core/read_back.hpp"
#include "gradcomp/kernels/pack/bit_vector.hpp"

namespace gradcomp::coders {

using kernels::BitString;

namespace {

void copy_indices(const Exec& exec, const std::uint32_t* from, index_t kept, std::uint32_t* to) {
  const auto count = static_cast<std::size_t>(kept);
  if (from != to) Kokkos::deep_copy(exec, Span<std::uint32_t>(to, count), Span<const std::uint32_t>(from, count));
}

/// Indices not below `elements` or not above the one before, and stray bits behind either bit string.
index_t count_bad(const Exec& exec, const std::uint32_t* indices, index_t kept, index_t elements,
                  const BitString& first, const BitString& second) {
  index_t bad = 0;
  Kokkos::parallel_reduce(
      "gradcomp::coders::count_bad_indices", IndexRange(exec, 0, kept),
      KOKKOS_LAMBDA(index_t i, index_t & sum) {
        const bool good = static_cast<index_t>(indices[i]) < elements && (i == 0 || indices[i - 1] < indices[i]) &&
                          (i > 0 || !(first.is_padded_wrongly() || second.is_padded_wrongly()));
        sum += good ? 0 : 1;
      },
      bad);
  wait(exec, "gradcomp::coders::count_bad_indices");
  return bad;
}

/// The coding of fewest bytes, of equal ones the first.
Encoded shortest(const Exec& exec, const std::uint32_t* indices, index_t elements, index_t kept) {
  const GapSizes sizes = gap_sizes(exec, indices, elements, kept);
  Encoded best{IndexCoding::u32, index_bytes(IndexCoding::u32, elements, kept)};
  for (int c = 1; c < index_codings; ++c) {
    const auto coding = static_cast<IndexCoding>(c);
    const index_t bytes = coding == IndexCoding::delta  ? sizes.delta
                          : coding == IndexCoding::rice ? sizes.rice
                                                        : index_bytes(coding, elements, kept);
    if (bytes < best.bytes) best = {coding, bytes};
  }
  return best;
}

/// The chunks that a coding's sections can have: of words (of all of them, for simplicity) and of entries.
index_t chunks_of(const IndexChoice& choice, index_t capacity, index_t capacity_bytes) {
  if (!choice.automatic && (choice.coding == IndexCoding::u32 || choice.coding == IndexCoding::packed)) return 0;
  return std::max(kernels::word_chunks(capacity_bytes / 4), kernels::entry_chunks(capacity));
}

index_t checked(index_t elements, index_t capacity) {
  require(0 <= capacity && capacity <= elements && elements <= 0xffffffff,
          "index coder: up to {} entries of {} elements; allowed: entries <= elements <= 2^32 - 1", capacity, elements);
  return capacity;
}

}  // namespace

IndexCoder::IndexCoder(const IndexChoice& choice, index_t elements, index_t capacity)
    : m_choice(choice),
      m_elements(elements),
      m_capacity(checked(elements, capacity)),
      m_capacity_bytes(index_capacity_bytes(choice, elements, capacity)) {
  const index_t chunks = chunks_of(choice, capacity, m_capacity_bytes);
  if (chunks > 0) m_starts = Vector<std::uint64_t>("gradcomp::coders::chunk_starts", static_cast<std::size_t>(chunks));
}

Encoded IndexCoder::encode(const Exec& exec, const std::uint32_t* indices, index_t kept, std::byte* out) const {
  require(kept <= m_capacity, "index coder: {} entries, prepared for at most {}", kept, m_capacity);
  if (kept == 0) return {m_choice.coding, 0};
  Encoded encoded = m_choice.automatic ? shortest(exec, indices, m_elements, kept)
                                       : Encoded{m_choice.coding, index_bytes(m_choice.coding, m_elements, kept)};
  auto* const words = reinterpret_cast<std::uint32_t*>(out);
  switch (encoded.coding) {
    case IndexCoding::u32:
      copy_indices(exec, indices, kept, words);
      break;
    case IndexCoding::packed:
      encode_packed(exec, indices, m_elements, kept, words);
      break;
    case IndexCoding::bitmap:
      encode_bitmap(exec, indices, m_elements, kept, words);
      break;
    case IndexCoding::delta:
      encoded.bytes = encode_delta(exec, indices, kept, m_starts, reinterpret_cast<std::uint8_t*>(out));
      break;
    case IndexCoding::rice:
      encoded.bytes = encode_rice(exec, indices, m_elements, kept, m_starts, words);
      break;
    case IndexCoding::elias_fano:
      encode_elias_fano(exec, indices, m_elements, kept, words);
      break;
  }
  return encoded;
}

const std::uint32_t* IndexCoder::decode(const Exec& exec, IndexCoding coding, const Span<const std::byte>& section,
                                        index_t kept, std::uint32_t* indices) const {
  const std::string name = to_string(coding);
  const auto size = static_cast<index_t>(section.size());
  require(m_choice.admits(coding) || kept == 0, "index section: coded as {}, expected {}", name,
          to_string(m_choice.coding));
  require(0 <= kept && kept <= m_capacity, "index section: {} entries, at most {} are possible", kept, m_capacity);
  const index_t most = index_bytes(coding, m_elements, kept);
  require(size % 4 == 0 && (is_closed_form(coding) ? size == most : size <= most),
          "index section: {} bytes, expected {}{} for {} entries in {}", size, is_closed_form(coding) ? "" : "up to ",
          most, kept, name);
  require(size <= capacity_bytes(), "index section: {} bytes in {}, at most {} are possible", size, name,
          capacity_bytes());
  if (kept == 0) return indices;

  const auto* const words = reinterpret_cast<const std::uint32_t*>(section.data());
  Positions found;
  switch (coding) {
    case IndexCoding::u32:
      break;
    case IndexCoding::packed:
      found = decode_packed(exec, words, m_elements, kept, indices);
      break;
    case IndexCoding::bitmap:
      found = decode_bitmap(exec, words, m_elements, kept, m_starts, indices);
      break;
    case IndexCoding::delta:
      found.good = decode_delta(exec, section, kept, m_starts, indices);
      break;
    case IndexCoding::rice:
      found.good = decode_rice(exec, section, m_elements, kept, m_starts, indices);
      break;
    case IndexCoding::elias_fano:
      found = decode_elias_fano(exec, words, m_elements, kept, m_starts, indices);
      break;
  }
  require(found.good, "index section: {} bytes are no {} entries in {}", size, kept, name);
  const std::uint32_t* const decoded = coding == IndexCoding::u32 ? words : indices;
  const index_t bad = count_bad(exec, decoded, kept, m_elements, found.first, found.second);
  require(bad == 0, "index section: {} of {} entries in {} are out of range or order", bad, kept, name);
  return decoded;
}

}  // namespace gradcomp::coders
