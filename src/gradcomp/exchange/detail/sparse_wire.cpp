#include "gradcomp/exchange/detail/sparse_wire.hpp"

#include "gradcomp/core/read_back.hpp"
#include "gradcomp/kernels/select/scatter.hpp"

namespace gradcomp {
namespace {

/// What precedes the entries.
struct ListHeader {
  PayloadHeader common;  ///< kept: number of entries of this list
  std::uint64_t message = 0;
};
static_assert(sizeof(ListHeader) == 40 && std::is_trivially_copyable_v<ListHeader>);
constexpr index_t header_bytes = sizeof(ListHeader);

template <class T>
void copy(const Exec& exec, const T* from, T* to, index_t count) {
  const auto n = static_cast<std::size_t>(count);
  if (n > 0) Kokkos::deep_copy(exec, Span<T>(to, n), Span<const T>(from, n));
}

}  // namespace

SparseWire::SparseWire(const Compressor& compressor, index_t elements) {
  m_header.method = static_cast<std::uint16_t>(text_hash(compressor.info().name.c_str()));
  m_header.spec = text_hash(compressor.options().canonical().c_str());
  m_header.elements = static_cast<std::uint64_t>(elements);
}

index_t SparseWire::capacity(index_t entries) { return header_bytes + 8 * entries; }

index_t SparseWire::encode(const Exec& exec, const SparseList& list, const Span<std::byte>& buffer) const {
  const index_t kept = list.flagged ? 0 : list.entries.kept;
  require(capacity(kept) <= static_cast<index_t>(buffer.size()), "sparse list: {} entries do not fit {} bytes", kept,
          buffer.size());
  ListHeader header{m_header, static_cast<std::uint64_t>(list.flagged ? 0 : list.message)};
  header.common.kept = static_cast<std::uint64_t>(kept);
  header.common.flags = list.flagged ? PayloadHeader::flag_diverged : 0;
  Kokkos::deep_copy(exec, subspan(buffer, 0, header_bytes),
                    HostSpan<const std::byte>(reinterpret_cast<const std::byte*>(&header), header_bytes));
  std::byte* const entries = buffer.data() + header_bytes;
  copy(exec, list.entries.indices, reinterpret_cast<std::uint32_t*>(entries), kept);
  copy(exec, list.entries.values, reinterpret_cast<float*>(entries + 4 * kept), kept);
  wait(exec, "gradcomp::exchange::encode_list");  // `header` is a local variable
  return capacity(kept);
}

SparseList SparseWire::decode(const Exec& exec, const Span<const std::byte>& bytes, index_t capacity, index_t first,
                              index_t last) const {
  const auto size = static_cast<index_t>(bytes.size());
  const PayloadHeader common = read_header(exec, bytes, m_header);
  require(size >= header_bytes, "sparse list: {} bytes, expected at least {} for a header", size, header_bytes);
  ListHeader header;
  read_back(exec, subspan(bytes, 0, header_bytes), reinterpret_cast<std::byte*>(&header),
            "gradcomp::exchange::decode_list");
  require(common.kept <= header.message && header.message <= static_cast<std::uint64_t>(capacity),
          "sparse list: {} entries of a message of {}, expected at most {}", common.kept, header.message, capacity);
  const auto kept = static_cast<index_t>(common.kept);
  require(size == SparseWire::capacity(kept), "sparse list: {} bytes, expected {} for {} entries", size,
          SparseWire::capacity(kept), kept);
  require(!common.diverged() || kept == 0, "sparse list: {} entries of a flagged list, expected 0", kept);
  SparseList list;
  list.flagged = common.diverged();
  list.message = static_cast<index_t>(header.message);
  if (kept == 0) return list;
  const std::byte* const entries = bytes.data() + header_bytes;
  list.entries = {reinterpret_cast<const std::uint32_t*>(entries), reinterpret_cast<const float*>(entries + 4 * kept),
                  kept};
  std::uint32_t lowest = 0;
  Kokkos::deep_copy(exec, HostSpan<std::uint32_t>(&lowest, 1), Span<const std::uint32_t>(list.entries.indices, 1));
  const index_t bad = kernels::count_bad_entries(exec, list.entries.indices, list.entries.values, kept, last);
  require(
      bad == 0 && static_cast<index_t>(lowest) >= first,
      "sparse list: of {} entries, {} have an index out of range or order, or a value that is not finite; the first "
      "index is {}, allowed are [{}, {})",
      kept, bad, lowest, first, last);
  return list;
}

}  // namespace gradcomp
