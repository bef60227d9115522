#pragma once
// Encoder and decoder of the index section of a sparse payload (index_coding.hpp). Nothing is serial over entries:
// fixed-width fields are written and read independently, sizes and starts come from scans over chunks.
#include "gradcomp/coders/index_coding.hpp"

namespace gradcomp::coders {

struct Encoded {
  const IndexCoderEntry* coder = nullptr;
  index_t bytes = 0;  ///< a multiple of 4
};

/// Owns the work space of one bucket, as its coder asks for it: 8 bytes per chunk of 1024 entries or 64 words for most,
/// nothing for u32 and packed.
class IndexCoder {
 public:
  /// Up to `capacity` indices below `elements`. Throws Error unless capacity <= elements <= 2^32 - 1.
  IndexCoder(const IndexChoice& choice, index_t elements, index_t capacity);

  const IndexChoice& choice() const { return m_choice; }
  index_t elements() const { return m_elements; }
  index_t capacity() const { return m_capacity; }
  /// Most bytes that encode() writes.
  index_t capacity_bytes() const { return m_capacity_bytes; }

  /// Writes `kept` strictly ascending indices to `out`, aligned to 4 bytes, which must not overlap them (for a
  /// coder in place it may be the same array). The automatic choice takes the shortest, of equal ones that of the
  /// lowest id. Waits for exec only where the size depends on the indices.
  Encoded encode(const Exec& exec, const std::uint32_t* indices, index_t kept, std::byte* out) const;

  /// Reads `kept` indices into `indices` and returns it; a coder in place only looks, and returns where they are in
  /// the section. Throws Error, with `indices` unspecified, unless `section` (aligned to 4 bytes) is exactly what
  /// encode() writes for some indices, by a coder that the choice admits. Waits for exec.
  const std::uint32_t* decode(const Exec& exec, const IndexCoderEntry& coder, const Span<const std::byte>& section,
                              index_t kept, std::uint32_t* indices) const;

  /// Bytes of work space.
  index_t bytes() const { return static_cast<index_t>(m_work.size() * sizeof(std::uint64_t)); }

 private:
  IndexChoice m_choice;
  index_t m_elements, m_capacity, m_capacity_bytes;
  Work m_work;  ///< [work() of the coder, or the most of all]
};

}  // namespace gradcomp::coders
