#pragma once
// Sections of a sparse payload (W8 of the sparsifiers): header, then `kept` u32 indices relative to the bucket,
// strictly ascending, then `kept` f32 values.
#include "gradcomp/core/payload.hpp"

namespace gradcomp::coders {

/// Bytes of the sections, header apart.
constexpr index_t sparse_bytes(index_t kept) { return 8 * kept; }

template <class Byte>
struct SparseSections;
template <>
struct SparseSections<std::byte> {
  std::uint32_t* indices;
  float* values;
};
template <>
struct SparseSections<const std::byte> {
  const std::uint32_t* indices;
  const float* values;
};

/// Where the sections of a payload with `kept` entries lie; the payload is long enough.
template <class Byte>
SparseSections<Byte> sparse_sections(const Span<Byte>& payload, index_t kept) {
  auto* const start = payload.data() + payload_header_bytes;
  return {reinterpret_cast<decltype(SparseSections<Byte>::indices)>(start),
          reinterpret_cast<decltype(SparseSections<Byte>::values)>(start + 4 * kept)};
}

/// out += weight * decoded. Throws Error, with `out` untouched, unless the payload has the expected header, at most
/// `capacity` entries, exactly their length, indices ascending below out's size and finite values. A flagged payload
/// has no entries and adds nothing.
void decode_sparse(const Exec& exec, const Span<const std::byte>& payload, const PayloadHeader& expected,
                   index_t capacity, float weight, const Span<float>& out);

}  // namespace gradcomp::coders
