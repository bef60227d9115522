#include "gradcomp/core/payload.hpp"

#include <cstddef>
#include <cstring>

#include "gradcomp/core/read_back.hpp"

namespace gradcomp {
namespace {

struct HeaderWords {
  std::uint32_t word[payload_header_bytes / 4];
};

void check_form(const PayloadHeader& header) {
  require(header.magic == PayloadHeader::magic_value, "payload: magic {:#010x}, expected {:#010x}", header.magic,
          PayloadHeader::magic_value);
  require(header.version == PayloadHeader::version_value, "payload: version {}, expected {}", header.version,
          PayloadHeader::version_value);
}

void check_sender(const PayloadHeader& header, const PayloadHeader& expected) {
  require(header.method == expected.method && header.spec == expected.spec,
          "payload: made by method {:#06x}/{:#010x}, expected {:#06x}/{:#010x} (ranks with different options?)",
          header.method, header.spec, expected.method, expected.spec);
  require(header.elements == expected.elements, "payload: for {} elements, expected {}", header.elements,
          expected.elements);
}

void check_flags(const PayloadHeader& header, std::uint32_t known) {
  require((header.flags & ~known) == 0, "payload: unknown flags {:#010x}, allowed are those in {:#010x}",
          header.flags & ~known, known);
}

}  // namespace

std::uint32_t text_hash(const char* text) {
  std::uint32_t hash = 2166136261u;
  for (; *text != '\0'; ++text) hash = (hash ^ static_cast<unsigned char>(*text)) * 16777619u;
  return hash;
}

Mark mark_in(const Span<std::byte>& payload) {
  return {reinterpret_cast<std::uint32_t*>(payload.data() + offsetof(PayloadHeader, flags))};
}

void write_header(const Exec& exec, const PayloadHeader& header, const Span<std::byte>& payload) {
  const auto copy = Kokkos::bit_cast<HeaderWords>(header);
  std::byte* const bytes = payload.data();
  if (device_is_host) {
    std::memcpy(bytes, &header, sizeof header);
    return;
  }
  Kokkos::parallel_for(
      "gradcomp::core::write_header", IndexRange(exec, 0, 8),
      KOKKOS_LAMBDA(const index_t i) { reinterpret_cast<std::uint32_t*>(bytes)[i] = copy.word[i]; });
}

PayloadHeader read_header(const Exec& exec, const Span<const std::byte>& payload) {
  require(static_cast<index_t>(payload.size()) >= payload_header_bytes,
          "payload: {} bytes, shorter than its header of {} bytes", payload.size(), payload_header_bytes);
  PayloadHeader header;
  read_back(exec, subspan(payload, 0, payload_header_bytes), reinterpret_cast<std::byte*>(&header),
            "gradcomp::core::read_header");
  check_form(header);
  return header;
}

PayloadHeader read_header(const Exec& exec, const Span<const std::byte>& payload, const PayloadHeader& expected,
                          std::uint32_t known) {
  const PayloadHeader header = read_header(exec, payload);
  check_sender(header, expected);
  check_flags(header, known);
  return header;
}

}  // namespace gradcomp
