#include "gradcomp/coders/index_coder.hpp"

#include <algorithm>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/read_back.hpp"

namespace gradcomp::coders {

using kernels::BitString;

namespace {

/// The number of indices that are not below `elements` or not above the index before; one more is counted for bits that
/// are not zero behind either bit string.
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

/// The coder that needs the fewest bytes; ties go to the lowest id.
const IndexCoderEntry* shortest(const Exec& exec, const IndexList& list) {
  const IndexCoderEntry* best = nullptr;
  index_t least = 0;
  for (const IndexCoderEntry* const coder : index_coder_list()) {
    const index_t bytes =
        coder->has_fixed_size() ? coder->max_bytes(list.elements, list.kept) : coder->bytes(exec, list);
    if (best != nullptr && bytes >= least) continue;
    best = coder;
    least = bytes;
  }
  return best;
}

/// Words of work space that suffice for every coder that the choice admits.
index_t work_words(const IndexChoice& choice, index_t capacity, index_t capacity_bytes) {
  index_t most = 0;
  for (const IndexCoderEntry* const coder : index_coder_list())
    if (choice.admits(*coder) && coder->work != nullptr) most = std::max(most, coder->work(capacity, capacity_bytes));
  return most;
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
  const index_t words = work_words(choice, capacity, m_capacity_bytes);
  if (words > 0) m_work = Work("gradcomp::coders::chunk_starts", static_cast<std::size_t>(words));
}

Encoded IndexCoder::encode(const Exec& exec, const std::uint32_t* indices, index_t kept, std::byte* out) const {
  require(kept <= m_capacity, "index coder: {} entries, prepared for at most {}", kept, m_capacity);
  if (kept == 0) return {m_choice.coder, 0};
  const IndexList list{indices, m_elements, kept};
  const IndexCoderEntry* const coder = m_choice.automatic ? shortest(exec, list) : m_choice.coder;
  return {coder, coder->encode(exec, list, m_work, out)};
}

const std::uint32_t* IndexCoder::decode(const Exec& exec, const IndexCoderEntry& coder,
                                        const Span<const std::byte>& section, index_t kept,
                                        std::uint32_t* indices) const {
  const auto size = static_cast<index_t>(section.size());
  require(m_choice.admits(coder) || kept == 0, "index section: coded as {}, expected {}", coder.name,
          m_choice.coder->name);
  require(0 <= kept && kept <= m_capacity, "index section: {} entries, at most {} are possible", kept, m_capacity);
  const index_t max_bytes = index_bytes(coder, m_elements, kept);
  require(size % 4 == 0 && (coder.has_fixed_size() ? size == max_bytes : size <= max_bytes),
          "index section: {} bytes, expected {}{} for {} entries in {}", size, coder.has_fixed_size() ? "" : "up to ",
          max_bytes, kept, coder.name);
  require(size <= capacity_bytes(), "index section: {} bytes in {}, at most {} are possible", size, coder.name,
          capacity_bytes());
  if (kept == 0) return indices;

  const FoundIndices found = coder.decode(exec, section, m_elements, kept, m_work, indices);
  require(found.indices != nullptr, "index section: {} bytes are not {} entries in {}", size, kept, coder.name);
  const index_t bad = count_bad(exec, found.indices, kept, m_elements, found.first, found.second);
  require(bad == 0, "index section: {} of {} entries in {} are out of range or order", bad, kept, coder.name);
  return found.indices;
}

}  // namespace gradcomp::coders
