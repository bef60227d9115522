#pragma once
// The fixed header of every bytes message: little endian, followed by the sections that the method's header file lists.
#include <string>
#include <type_traits>

#include "gradcomp/core/verdict.hpp"

namespace gradcomp {

struct PayloadHeader {
  static constexpr std::uint32_t magic_value = 0x50434721;  // "!GCP"
  static constexpr std::uint16_t version_value = 1;
  static constexpr std::uint32_t flag_skip = 1;  ///< the sender saw a non-finite gradient: all ranks skip the step
  static constexpr std::uint32_t any_flags = 0xffffffff;  ///< of a stage whose inner decoder looks at them

  std::uint32_t magic = magic_value;
  std::uint16_t version = version_value;
  std::uint16_t method = 0;    ///< method_id() of the sender's method
  std::uint64_t elements = 0;  ///< of the bucket
  std::uint64_t kept = 0;      ///< entries that follow; = elements for dense codings
  std::uint32_t flags = 0;
  std::uint32_t spec = 0;  ///< method_id-like hash of the canonical spec: a peer with other options is refused

  bool skip() const { return (flags & flag_skip) != 0; }
};
static_assert(sizeof(PayloadHeader) == 32 && std::is_trivially_copyable_v<PayloadHeader>);
inline constexpr index_t payload_header_bytes = sizeof(PayloadHeader);

/// Bytes of a section that is padded to whole words of 4 bytes.
constexpr index_t padded_bytes(index_t bytes) { return (bytes + 3) / 4 * 4; }

/// FNV-1a of `text`, folded to 32 bits: identifies methods and specs in headers and start-up handshakes.
std::uint32_t text_hash(const char* text);

/// Writes `header` to the first bytes of `payload` (device), ordered on exec.
void write_header(const Exec& exec, const PayloadHeader& header, const Span<std::byte>& payload);
/// The same; if `flagged` is not zero, a header with the flag and without entries.
void write_header(const Exec& exec, const PayloadHeader& header, const Span<std::byte>& payload, const Tally& flagged);

/// Copies the header to the host. Throws Error unless `payload` is long enough and magic and version fit.
/// Waits for exec.
PayloadHeader read_header(const Exec& exec, const Span<const std::byte>& payload);

/// read_header(), and throws Error unless method, spec and element count are the expected ones and all flags are among
/// `known`.
PayloadHeader read_header(const Exec& exec, const Span<const std::byte>& payload, const PayloadHeader& expected,
                          std::uint32_t known = PayloadHeader::flag_skip);

/// Checks the header of a payload that has `size` bytes after it; on hosts no bytes if it is flagged. Clears `refused`,
/// and counts in it if nothing may be decoded: either the payload is flagged, which raises the verdict's flag, or it is
/// broken; then hosts throw Error at once and devices later (Verdict::skipped()). Never waits for a device.
void admit_header(const Exec& exec, const Span<const std::byte>& payload, const PayloadHeader& expected, index_t size,
                  const std::string& method, const Tally& refused, Verdict& verdict);

}  // namespace gradcomp
