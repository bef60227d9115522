#pragma once
// Encoder and decoder of the index section of a sparse payload (index_coding.hpp). No loop is serial over all entries:
// fields of fixed width are written and read independently, and scans over chunks find sizes and starts.
#include "gradcomp/coders/index_coding.hpp"

namespace gradcomp::coders {

struct Encoded {
  const IndexCoderEntry* coder = nullptr;
  index_t bytes = 0;  ///< a multiple of 4
};

/// Owns the work space of one bucket: for most coders 8 bytes per chunk of entries or words
/// (kernels/pack/bit_vector.hpp), for u32 and packed nothing.
class IndexCoder {
 public:
  /// For up to `capacity` indices below `elements`. Throws Error unless capacity <= elements <= 2^32 - 1.
  IndexCoder(const IndexChoice& choice, index_t elements, index_t capacity);

  const IndexChoice& choice() const { return m_choice; }
  index_t elements() const { return m_elements; }
  index_t capacity() const { return m_capacity; }
  /// The largest number of bytes that encode() writes.
  index_t capacity_bytes() const { return m_capacity_bytes; }

  /// Writes the section of `kept` strictly ascending indices to `out`, which is aligned to 4 bytes and must not overlap
  /// `indices` (with a coder in place it may be the same array). The automatic choice takes the coder of the shortest
  /// section; ties go to the lowest id. Waits for exec only if the size depends on the indices. Throws Error if `kept`
  /// exceeds the capacity.
  Encoded encode(const Exec& exec, const std::uint32_t* indices, index_t kept, std::byte* out) const;

  /// Reads `kept` indices into `indices` and returns `indices`; a coder in place copies nothing, and returns the
  /// address in the section. Throws Error, and leaves `indices` unspecified, unless `section` (aligned to 4 bytes) is
  /// exactly what encode() writes for some indices with a coder that the choice admits. Waits for exec.
  const std::uint32_t* decode(const Exec& exec, const IndexCoderEntry& coder, const Span<const std::byte>& section,
                              index_t kept, std::uint32_t* indices) const;

  /// Bytes of work space.
  index_t bytes() const { return static_cast<index_t>(m_work.size() * sizeof(std::uint64_t)); }

 private:
  IndexChoice m_choice;
  index_t m_elements, m_capacity, m_capacity_bytes;
  Work m_work;  ///< as large as the coder needs; for an automatic choice, as any coder needs
};

}  // namespace gradcomp::coders
