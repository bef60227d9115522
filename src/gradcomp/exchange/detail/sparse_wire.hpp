#pragma once
// Lists of sparse entries as merging reducers send them: a header, u32 indices, f32 values. The only place where such a
// list is coded and decoded.
#include "gradcomp/core/compressor.hpp"

namespace gradcomp {

/// A list that came over the wire, or goes there.
struct SparseList {
  SparseView entries;    ///< none when flagged
  bool flagged = false;  ///< some rank saw a value that is not finite: all ranks skip the step
  index_t message = 0;   ///< entries of the message that the list is a part of; not below entries.kept
};

class SparseWire {
 public:
  /// For buckets of `elements` elements under this method.
  SparseWire(const Compressor& compressor, index_t elements);

  /// Most bytes of a list of so many entries.
  static index_t capacity(index_t entries);

  /// Writes `list` to `buffer` (device, aligned to 4 bytes), which has room for it; returns its bytes.
  index_t encode(const Exec& exec, const SparseList& list, const Span<std::byte>& buffer) const;

  /// Reads a peer's list: a view of `bytes`. Throws Error unless they are a list of this method with at most `capacity`
  /// entries of a message of as many, indices ascending in [first, last), and finite values. Waits for exec.
  SparseList decode(const Exec& exec, const Span<const std::byte>& bytes, index_t capacity, index_t first,
                    index_t last) const;

 private:
  PayloadHeader m_header;
};

}  // namespace gradcomp
