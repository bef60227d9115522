#pragma once
// Sparse payloads: the header, the section of the indices (relative to the bucket, strictly ascending), and the section
// of the values. The flags of the header name the coders by their ids: that of indices in bits 8 to 11, that of values
// in bits 12 to 15.
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

/// The parameters `index` and `values` of methods that send sparse payloads.
std::vector<Parameter> sparse_coding_parameters();
/// The coders that these parameters choose.
SparseCoding sparse_coding(const ParameterValues& options);

/// Where a sender writes its entries.
struct SparseTarget {
  std::uint32_t* indices;
  float* values;
};

/// The entries of a payload.
struct DecodedEntries : SparseView {
  bool skip = false;  ///< the payload is flagged: it has no entries, and all ranks skip the step
};

/// Writes and reads the sparse payloads of one bucket. Owns 4 bytes per entry for coded indices and 4 for coded values.
/// With coders in place (u32 and f32) it owns nothing and copies nothing: entries are written and read in the payload.
class SparseCoder {
 public:
  /// For up to `capacity` entries of a bucket of `elements`. Throws Error unless capacity <= elements <= 2^32 - 1.
  SparseCoder(const SparseCoding& coding, index_t elements, index_t capacity);

  /// The largest size of a payload in bytes, header included.
  static index_t payload_capacity(const SparseCoding& coding, index_t elements, index_t capacity);
  index_t payload_capacity() const { return payload_capacity(m_coding, m_index.elements(), m_index.capacity()); }
  const SparseCoding& coding() const { return m_coding; }

  /// Room for `kept` entries: in `payload` itself if the coders allow it, otherwise in arrays of this object, which the
  /// next decode() overwrites.
  SparseTarget target(const Span<std::byte>& payload, index_t kept) const;

  /// Writes the header (with `kept` and the ids of the coders) and the sections to `payload`, which has at least
  /// payload_capacity() bytes and is aligned to 4. `indices` and `values` are the arrays of target() or the caller's
  /// own; `values` becomes what receivers decode. Returns the size of the payload in bytes. Waits for exec. Throws
  /// Error if the payload is too short or badly aligned, or has more entries than the capacity.
  index_t encode(const Exec& exec, PayloadHeader header, const std::uint32_t* indices, float* values, index_t kept,
                 const Span<std::byte>& payload) const;

  /// Writes a payload that makes all ranks skip the step. Returns its size in bytes.
  static index_t encode_skip(const Exec& exec, PayloadHeader header, const Span<std::byte>& payload);

  /// The entries of a payload, in the payload or in arrays of this object; they are valid until either changes. Throws
  /// Error unless the payload has the expected header, the length that the header implies, at most `capacity` entries,
  /// the coders of this object, ascending indices in range and finite values. Waits for exec.
  DecodedEntries decode(const Exec& exec, const Span<const std::byte>& payload, const PayloadHeader& expected) const;

  /// Bytes of work space.
  index_t bytes() const;

 private:
  SparseCoding m_coding;
  IndexCoder m_index;
  Vector<std::uint32_t> m_indices;  ///< [capacity], unless the coder works in place
  Vector<float> m_values;           ///< [capacity], unless values always fit into the payload itself
};

/// out += weight * decoded. Returns true if the payload is flagged, and then adds nothing. Throws Error like decode(),
/// and leaves `out` unchanged then.
bool decode_sparse(const Exec& exec, const SparseCoder& coder, const Span<const std::byte>& payload,
                   const PayloadHeader& expected, float weight, const Span<float>& out);

}  // namespace gradcomp::coders
