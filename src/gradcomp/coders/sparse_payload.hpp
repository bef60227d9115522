#pragma once
// Sparse payloads: the header, the section of the indices (relative to the bucket, strictly ascending), and the section
// of the values. The flags of the header name the coders by their ids: that of indices in bits 8 to 11, that of values
// in bits 12 to 15. Without entries both sections are empty.
#include <vector>

#include "gradcomp/coders/index_coder.hpp"
#include "gradcomp/coders/value_coder.hpp"
#include "gradcomp/core/compressor.hpp"
#include "gradcomp/kernels/select/scatter.hpp"

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

  /// Whether the length of a payload says how many entries it has, and both sections are read where they are.
  bool in_place() const;

  /// out += weight * decoded, for a payload with the header `expected` but for the number of entries, the ids of the
  /// coders and a flag. Throws Error for a wrong length or alignment, more than `capacity` entries and other coders,
  /// and for wrong indices and values too, unless in_place(): then they are counted as broken, and nothing waits.
  /// Otherwise this waits for exec.
  void decode_add(const Exec& exec, const Received& received, const PayloadHeader& expected, const std::string& method,
                  const Span<float>& out) const;

  /// out = the sum of all messages, as decode_add() adds them, in one pass over `out`. Needs in_place().
  void decode_sum(const Exec& exec, std::span<const Received> messages, const PayloadHeader& expected,
                  const Span<float>& out) const;

  /// Bytes of work space.
  index_t bytes() const;

 private:
  SparseView decode(const Exec& exec, const Span<const std::byte>& payload, const PayloadHeader& header) const;
  kernels::SparseMessage message(const Received& received) const;
  void add_in_place(const Exec& exec, std::span<const Received> received, PayloadHeader expected, bool from_zero,
                    const Span<float>& out) const;

  SparseCoding m_coding;
  IndexCoder m_index;
  Vector<std::uint32_t> m_indices;  ///< [capacity], unless the coder works in place
  Vector<float> m_values;           ///< [capacity], unless values always fit into the payload itself
};

}  // namespace gradcomp::coders
