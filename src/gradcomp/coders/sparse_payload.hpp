#pragma once
// Sparse payloads: header, then the section of the indices (relative to the bucket, strictly ascending), then that of
// the values. The header's flags name the coders of both by their ids: of indices in bits 8 to 11, of values in 12
// to 15.
#include <vector>

#include "gradcomp/coders/index_coder.hpp"
#include "gradcomp/coders/value_coder.hpp"
#include "gradcomp/core/message.hpp"
#include "gradcomp/core/options.hpp"
#include "gradcomp/core/payload.hpp"

namespace gradcomp::coders {

struct SparseCoding {
  IndexChoice index;
  const ValueCoderEntry* values = nullptr;
};

/// The parameters `index` and `values` of methods that send sparse payloads, and what their texts ask for.
std::vector<Parameter> sparse_coding_parameters();
SparseCoding sparse_coding(const ParameterValues& options);

/// Where a sender puts its entries.
struct SparseTarget {
  std::uint32_t* indices;
  float* values;
};

/// The entries of a payload.
struct DecodedEntries : SparseView {
  bool skip = false;  ///< flagged: no entries, and all ranks skip the step
};

/// Writes and reads the sparse payloads of one bucket. Owns 4 bytes an entry for coded indices and 4 for coded values;
/// with coders in place (u32 and f32) nothing at all, and nothing is copied: entries are written to, and read in, the
/// payload.
class SparseCoder {
 public:
  /// Up to `capacity` entries of a bucket of `elements`. Throws Error unless capacity <= elements <= 2^32 - 1.
  SparseCoder(const SparseCoding& coding, index_t elements, index_t capacity);

  /// Most bytes of a payload, header included.
  static index_t payload_capacity(const SparseCoding& coding, index_t elements, index_t capacity);
  index_t payload_capacity() const { return payload_capacity(m_coding, m_index.elements(), m_index.capacity()); }
  const SparseCoding& coding() const { return m_coding; }

  /// Room for `kept` entries: for what can be, in `payload` itself, otherwise in arrays of the coder that the next
  /// encode() reads and the next decode() overwrites.
  SparseTarget target(const Span<std::byte>& payload, index_t kept) const;

  /// Writes header and sections to `payload` (payload_capacity() bytes, aligned to 4); sets kept and the codings in the
  /// header. The arrays are those of target(), or the caller's own. `values` becomes what receivers decode. Returns the
  /// size of the payload. Waits for exec.
  index_t encode(const Exec& exec, PayloadHeader header, const std::uint32_t* indices, float* values, index_t kept,
                 const Span<std::byte>& payload) const;

  /// A message that makes all ranks skip the step; returns its size.
  static index_t encode_skip(const Exec& exec, PayloadHeader header, const Span<std::byte>& payload);

  /// Entries of a payload, in it or in arrays of the coder: valid until either changes. Throws Error unless the payload
  /// has the expected header, at most `capacity` entries, exactly their length, codings that are ours, ascending
  /// indices in range and finite values. Waits for exec.
  DecodedEntries decode(const Exec& exec, const Span<const std::byte>& payload, const PayloadHeader& expected) const;

  /// Bytes of work space.
  index_t bytes() const;

 private:
  SparseCoding m_coding;
  IndexCoder m_index;
  Vector<std::uint32_t> m_indices;  ///< [capacity], unless the coder works in place
  Vector<float> m_values;           ///< [capacity], unless values can always lie in the payload
};

/// out += weight * decoded. Throws as decode() does, with `out` untouched. A flagged payload adds nothing: returns
/// true.
bool decode_sparse(const Exec& exec, const SparseCoder& coder, const Span<const std::byte>& payload,
                   const PayloadHeader& expected, float weight, const Span<float>& out);

}  // namespace gradcomp::coders
