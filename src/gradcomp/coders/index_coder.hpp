#pragma once
// Encoder and decoder of the index section of a sparse payload (index_coding.hpp). Nothing is serial over entries:
// fixed-width fields are written and read independently, sizes and starts come from scans over chunks.
#include "gradcomp/coders/index_coding.hpp"

namespace gradcomp::coders {

struct Encoded {
  IndexCoding coding = IndexCoding::u32;
  index_t bytes = 0;  ///< a multiple of 4
};

/// Owns the work space of one bucket: 8 bytes per chunk of 1024 entries or 64 words; nothing for u32 and packed.
class IndexCoder {
 public:
  /// Up to `capacity` indices below `elements`. Throws Error unless capacity <= elements <= 2^32 - 1.
  IndexCoder(const IndexChoice& choice, index_t elements, index_t capacity);

  const IndexChoice& choice() const { return m_choice; }
  index_t elements() const { return m_elements; }
  index_t capacity() const { return m_capacity; }
  /// Most bytes that encode() writes.
  index_t capacity_bytes() const { return m_capacity_bytes; }

  /// Writes `kept` strictly ascending indices to `out`, aligned to 4 bytes, which must not overlap them (for u32 it may
  /// be the same array). The automatic choice takes the shortest, of equal ones the first of IndexCoding. Waits for
  /// exec only where the size depends on the indices.
  Encoded encode(const Exec& exec, const std::uint32_t* indices, index_t kept, std::byte* out) const;

  /// Reads `kept` indices into `indices` and returns it; u32 only looks, and returns where they are in the section.
  /// Throws Error, with `indices` unspecified, unless `section` (aligned to 4 bytes) is exactly what encode() writes
  /// for some indices, in a coding that the choice admits. Waits for exec.
  const std::uint32_t* decode(const Exec& exec, IndexCoding coding, const Span<const std::byte>& section, index_t kept,
                              std::uint32_t* indices) const;

  /// Bytes of work space.
  index_t bytes() const { return static_cast<index_t>(m_starts.size() * sizeof(std::uint64_t)); }

 private:
  IndexChoice m_choice;
  index_t m_elements, m_capacity, m_capacity_bytes;
  Vector<std::uint64_t> m_starts;  ///< [chunks of words or of entries]
};

}  // namespace gradcomp::coders
