#pragma once
// Lists of sparse entries as merging reducers send them: a header, u32 indices, f32 values. Only this file codes and
// decodes such lists.
#include "gradcomp/core/compressor.hpp"

namespace gradcomp {

/// A list that was received, or that is to be sent.
struct SparseList {
  SparseView entries;    ///< empty if flagged
  bool flagged = false;  ///< some rank met a value that is not finite
  index_t message = 0;   ///< entries of the message to which the list belongs; at least entries.kept
};

class SparseWire {
 public:
  /// For buckets of `elements` elements under this method.
  SparseWire(const Compressor& compressor, index_t elements);

  /// Largest number of bytes of a list of so many entries.
  static index_t capacity(index_t entries);

  /// Writes `list` to `buffer` (device, aligned to 4 bytes) and returns the number of bytes. Throws Error if the buffer
  /// is too small. Waits for exec.
  index_t encode(const Exec& exec, const SparseList& list, const Span<std::byte>& buffer) const;

  /// Reads a peer's list; the result is a view of `bytes`. Throws Error unless they are a list of this method, with at
  /// most `capacity` entries from a message of at most `capacity`, ascending indices in [first, last) and finite
  /// values. Waits for exec.
  SparseList decode(const Exec& exec, const Span<const std::byte>& bytes, index_t capacity, index_t first,
                    index_t last) const;

 private:
  PayloadHeader m_header;
};

}  // namespace gradcomp
