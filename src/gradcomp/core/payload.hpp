#pragma once
// The header of every bytes message: 32 bytes, little endian. The sections of the method follow it.
#include <string>
#include <type_traits>

#include "gradcomp/core/verdict.hpp"

namespace gradcomp {

struct PayloadHeader {
  static constexpr std::uint32_t magic_value = 0x50434721;  // "!GCP"
  static constexpr std::uint16_t version_value = 1;
  static constexpr std::uint32_t flag_skip = 1;  ///< the sender saw a non-finite gradient: all ranks skip the step
  static constexpr std::uint32_t any_flags = 0xffffffff;  ///< for a stage whose inner decoder checks the flags

  std::uint32_t magic = magic_value;
  std::uint16_t version = version_value;
  std::uint16_t method = 0;    ///< the low 16 bits of text_hash() of the method's name
  std::uint64_t elements = 0;  ///< of the bucket
  std::uint64_t kept = 0;      ///< entries that follow; = elements for dense codings
  std::uint32_t flags = 0;
  std::uint32_t spec = 0;  ///< text_hash() of the canonical options: payloads made with other options are refused

  bool skip() const { return (flags & flag_skip) != 0; }
};
static_assert(sizeof(PayloadHeader) == 32 && std::is_trivially_copyable_v<PayloadHeader>);
inline constexpr index_t payload_header_bytes = sizeof(PayloadHeader);

/// Bytes of a section that is padded to whole words of 4 bytes.
constexpr index_t padded_bytes(index_t bytes) { return (bytes + 3) / 4 * 4; }

/// The 32-bit FNV-1a hash of `text`: identifies methods and options in headers and in checks at the start of a run.
std::uint32_t text_hash(const char* text);

/// Writes `header` to the first bytes of `payload` (device), ordered on exec.
void write_header(const Exec& exec, const PayloadHeader& header, const Span<std::byte>& payload);
/// The same, but if `flagged` is not zero, the header has flag_skip and no entries.
void write_header(const Exec& exec, const PayloadHeader& header, const Span<std::byte>& payload, const Tally& flagged);

/// Copies the header to the host. Throws Error if `payload` is too short, or if magic or version are wrong. Waits for
/// exec.
PayloadHeader read_header(const Exec& exec, const Span<const std::byte>& payload);

/// The same, but also throws Error if method, spec or element count are not the expected ones, or if a flag is not
/// among `known`.
PayloadHeader read_header(const Exec& exec, const Span<const std::byte>& payload, const PayloadHeader& expected,
                          std::uint32_t known = PayloadHeader::flag_skip);

/// For decoders that have read `header`, behind which the payload has `size` bytes: returns whether the payload is
/// flagged, and then raises the verdict's flag. Throws Error if a flagged payload has entries, sections or other flags.
bool take_flag(const Exec& exec, const PayloadHeader& header, index_t size, const std::string& method,
               Verdict& verdict);

/// Checks the header of a payload with `size` bytes behind it; on hosts, a flagged payload must have none. Clears
/// `refused`, and sets it to 1 if nothing may be decoded. This is so if the payload is flagged, which also raises the
/// verdict's flag, or broken; hosts then throw Error at once, and devices later (Verdict::skipped()). Never waits for
/// a device.
void admit_header(const Exec& exec, const Span<const std::byte>& payload, const PayloadHeader& expected, index_t size,
                  const std::string& method, const Tally& refused, Verdict& verdict);

}  // namespace gradcomp
