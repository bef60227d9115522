#include "gradcomp/coders/sparse_payload.hpp"

#include "gradcomp/kernels/scatter.hpp"

namespace gradcomp::coders {

void decode_sparse(const Exec& exec, const Span<const std::byte>& payload, const PayloadHeader& expected,
                   index_t capacity, float weight, const Span<float>& out) {
  const PayloadHeader header = read_header(exec, payload, expected);
  require(header.kept <= static_cast<std::uint64_t>(capacity), "payload: {} entries, at most {} are possible",
          header.kept, capacity);
  const auto kept = static_cast<index_t>(header.kept);
  require(!header.skip() || kept == 0, "payload: flagged to be skipped, yet with {} entries", kept);
  require(static_cast<index_t>(payload.size()) == payload_header_bytes + sparse_bytes(kept),
          "payload: {} bytes, expected {} for {} entries", payload.size(), payload_header_bytes + sparse_bytes(kept),
          kept);
  require(reinterpret_cast<std::uintptr_t>(payload.data()) % alignof(float) == 0,
          "payload: starts at an address that is no multiple of {}", alignof(float));
  const auto sections = sparse_sections(payload, kept);
  const index_t bad =
      kernels::count_bad_entries(exec, sections.indices, sections.values, kept, static_cast<index_t>(out.size()));
  require(bad == 0, "payload: {} of {} entries have an index out of range or order, or a value that is not finite", bad,
          kept);
  kernels::scatter_add(exec, sections.indices, sections.values, kept, weight, out);
}

}  // namespace gradcomp::coders
