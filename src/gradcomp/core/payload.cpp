#include "gradcomp/core/payload.hpp"

#include "gradcomp/core/read_back.hpp"

namespace gradcomp {
namespace {

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

void check_length(const Span<const std::byte>& payload) {
  require(static_cast<index_t>(payload.size()) >= payload_header_bytes,
          "payload: {} bytes, shorter than its header of {} bytes", payload.size(), payload_header_bytes);
}

/// The header at `bytes`, which need not be aligned.
KOKKOS_INLINE_FUNCTION PayloadHeader header_at(const std::byte* bytes) {
  PayloadHeader header;
  auto* const to = reinterpret_cast<std::byte*>(&header);
  for (index_t i = 0; i < payload_header_bytes; ++i) to[i] = bytes[i];
  return header;
}

KOKKOS_INLINE_FUNCTION void put_header(const PayloadHeader& header, bool flagged, std::byte* bytes) {
  PayloadHeader copy = header;
  if (flagged) {
    copy.kept = 0;
    copy.flags = PayloadHeader::flag_skip;
  }
  const auto* const from = reinterpret_cast<const std::byte*>(&copy);
  for (index_t i = 0; i < payload_header_bytes; ++i) bytes[i] = from[i];
}

void put_header(const Exec& exec, const PayloadHeader& header, const Gate& flagged, bool may_be,
                const Span<std::byte>& payload) {
  if constexpr (device_is_host) {
    put_header(header, may_be && flagged.open(), payload.data());
  } else {
    Kokkos::parallel_for(
        "gradcomp::core::write_header", IndexRange(exec, 0, 1),
        KOKKOS_LAMBDA(const int) { put_header(header, may_be && flagged.open(), payload.data()); });
  }
}

/// What admit_header() does on a device.
void judge_header(const Exec& exec, const std::byte* bytes, const PayloadHeader& expected,
                  const Vector<index_t>& refused, const Span<std::uint32_t>& flags) {
  Kokkos::parallel_for(
      "gradcomp::core::judge_header", IndexRange(exec, 0, 1), KOKKOS_LAMBDA(const int) {
        const PayloadHeader found = header_at(bytes);
        const bool skip = found.flags == PayloadHeader::flag_skip;
        const bool good = found.magic == expected.magic && found.version == expected.version &&
                          found.method == expected.method && found.spec == expected.spec &&
                          found.elements == expected.elements && (skip || found.flags == 0) &&
                          found.kept == (skip ? 0 : expected.kept);
        if (skip) flags(0) = 1;
        if (!good) flags(1) = 1;
        if (skip || !good) refused(0) = 1;
      });
}

}  // namespace

std::uint32_t text_hash(const char* text) {
  std::uint32_t hash = 2166136261u;
  for (; *text != '\0'; ++text) hash = (hash ^ static_cast<unsigned char>(*text)) * 16777619u;
  return hash;
}

void write_header(const Exec& exec, const PayloadHeader& header, const Span<std::byte>& payload) {
  put_header(exec, header, Gate(), false, payload);
}

void write_header(const Exec& exec, const PayloadHeader& header, const Span<std::byte>& payload, const Tally& flagged) {
  put_header(exec, header, flagged.unless_zero(), true, payload);
}

PayloadHeader read_header(const Exec& exec, const Span<const std::byte>& payload) {
  check_length(payload);
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

bool take_flag(const Exec& exec, const PayloadHeader& header, index_t size, const std::string& method,
               Verdict& verdict) {
  if (!header.skip()) return false;
  check_flags(header, PayloadHeader::flag_skip);
  require(header.kept == 0 && size == 0, "{}: flagged payload with {} entries and {} bytes of sections, expected none",
          method, header.kept, size);
  verdict.skip(exec);
  return true;
}

void admit_header(const Exec& exec, const Span<const std::byte>& payload, const PayloadHeader& expected, index_t size,
                  const std::string& method, const Tally& refused, Verdict& verdict) {
  check_length(payload);
  refused.clear(exec);
  const index_t found = static_cast<index_t>(payload.size()) - payload_header_bytes;
  if constexpr (device_is_host) {
    const PayloadHeader header = header_at(payload.data());
    check_form(header);
    check_sender(header, expected);
    check_flags(header, PayloadHeader::flag_skip);
    const index_t wanted = header.skip() ? 0 : size;
    require(found == wanted && header.kept == (header.skip() ? 0 : expected.kept),
            "{}: payload of {} bytes for {} entries, expected {} bytes", method, payload.size(), header.kept,
            payload_header_bytes + wanted);
    if (!header.skip()) return;
    verdict.skip(exec);
    refused.count()(0) = 1;
  } else {
    require(found == size, "{}: payload of {} bytes, expected {}", method, payload.size(), payload_header_bytes + size);
    judge_header(exec, payload.data(), expected, refused.count(), verdict.flags());
  }
}

}  // namespace gradcomp
