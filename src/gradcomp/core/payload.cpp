#include "gradcomp/core/payload.hpp"

namespace gradcomp {
namespace {
using HostHeader = Kokkos::View<std::byte*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
}

std::uint32_t text_hash(const char* text) {
  std::uint32_t hash = 2166136261u;
  for (; *text != '\0'; ++text) hash = (hash ^ static_cast<unsigned char>(*text)) * 16777619u;
  return hash;
}

void write_header(const Exec& exec, const PayloadHeader& header, const Span<std::byte>& payload) {
  PayloadHeader copy = header;
  const HostHeader host(reinterpret_cast<std::byte*>(&copy), payload_header_bytes);
  Kokkos::deep_copy(exec, subspan(payload, 0, payload_header_bytes), host);
  exec.fence("gradcomp::core::write_header");  // `copy` lives on this stack
}

PayloadHeader read_header(const Exec& exec, const Span<const std::byte>& payload) {
  require(static_cast<index_t>(payload.size()) >= payload_header_bytes,
          "payload: {} bytes, shorter than its header of {} bytes", payload.size(), payload_header_bytes);
  PayloadHeader header;
  const HostHeader host(reinterpret_cast<std::byte*>(&header), payload_header_bytes);
  Kokkos::deep_copy(exec, host, subspan(payload, 0, payload_header_bytes));
  exec.fence("gradcomp::core::read_header");
  require(header.magic == PayloadHeader::magic_value, "payload: magic {:#010x}, expected {:#010x}", header.magic,
          PayloadHeader::magic_value);
  require(header.version == PayloadHeader::version_value, "payload: version {}, expected {}", header.version,
          PayloadHeader::version_value);
  return header;
}

PayloadHeader read_header(const Exec& exec, const Span<const std::byte>& payload, const PayloadHeader& expected) {
  const PayloadHeader header = read_header(exec, payload);
  require(header.method == expected.method && header.spec == expected.spec,
          "payload: made by method {:#06x}/{:#010x}, expected {:#06x}/{:#010x} (ranks with different options?)",
          header.method, header.spec, expected.method, expected.spec);
  require(header.elements == expected.elements, "payload: for {} elements, expected {}", header.elements,
          expected.elements);
  return header;
}

}  // namespace gradcomp
