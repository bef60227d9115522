#pragma once
// The header of every bytes message: 32 bytes, little endian. The sections of the method follow it.
#include <string>
#include <type_traits>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/faults.hpp"

namespace gradcomp {

struct PayloadHeader {
  static constexpr std::uint32_t magic_value = 0x50434721;  // "!GCP"
  static constexpr std::uint16_t version_value = 1;
  static constexpr std::uint32_t flag_diverged =
      1;  ///< the sender saw a non-finite gradient: nobody reads the sections
  static constexpr std::uint32_t any_flags = 0xffffffff;  ///< for a stage whose inner decoder checks the flags

  std::uint32_t magic = magic_value;
  std::uint16_t version = version_value;
  std::uint16_t method = 0;    ///< the low 16 bits of text_hash() of the method's name
  std::uint64_t elements = 0;  ///< of the bucket
  std::uint64_t kept = 0;      ///< entries that follow; = elements for dense codings
  std::uint32_t flags = 0;
  std::uint32_t spec = 0;  ///< text_hash() of the canonical options: payloads made with other options are refused

  bool diverged() const { return (flags & flag_diverged) != 0; }
};
static_assert(sizeof(PayloadHeader) == 32 && std::is_trivially_copyable_v<PayloadHeader>);
inline constexpr index_t payload_header_bytes = sizeof(PayloadHeader);

/// Bytes of a section that is padded to whole words of 4 bytes.
constexpr index_t padded_bytes(index_t bytes) { return (bytes + 3) / 4 * 4; }

/// The 32-bit FNV-1a hash of `text`: identifies methods and options in headers and in checks at the start of a run.
std::uint32_t text_hash(const char* text);

/// Where a pass notes a gradient that is not finite: the flags of a payload's header, or a word of a State. It stays
/// noted.
struct Mark {
  std::uint32_t* word = nullptr;

  KOKKOS_FUNCTION void set() const {
    if (word != nullptr) Kokkos::atomic_store(word, PayloadHeader::flag_diverged);
  }
  KOKKOS_FUNCTION bool is_set() const { return word != nullptr && (*word & PayloadHeader::flag_diverged) != 0; }
};

/// The flags of a payload of a method that sets no other flag. `payload` is aligned to 4 bytes.
Mark mark_in(const Span<std::byte>& payload);

/// Whether a payload may be decoded: not if it is flagged, or if its header is not the expected one. Each unit of a
/// decoding kernel asks admits(), so that no launch comes before it. On hosts, where units are small, who launches may
/// call settle() before, which asks once for all.
struct Admission {
  const std::uint32_t* words = nullptr;  ///< of the header; null: the sections may be decoded in any case
  PayloadHeader expected = {};
  FaultCounts faults = {};
  float* out = nullptr;    ///< becomes NaN if the payload is flagged, so that what is made of the sum is flagged too
  bool from_zero = false;  ///< whether the payload is the first of a sum: what `out` holds does not count

  /// If it returns false, nothing may be launched.
  bool settle() {
    if (!device_is_host || words == nullptr) return true;
    if (!check(true)) return false;
    words = nullptr;
    return true;
  }
  /// `first` is true in one unit of one kernel, which counts a payload that is not admitted.
  KOKKOS_FUNCTION bool admits(bool first) const { return words == nullptr || check(first); }
  /// What an element of `out` counts before the payload is added.
  KOKKOS_FORCEINLINE_FUNCTION float before(const float& element) const { return from_zero ? 0.0f : element; }

 private:
  KOKKOS_FUNCTION bool check(bool first) const;
};

/// Writes `header` to the first bytes of `payload` (device), ordered on exec.
void write_header(const Exec& exec, const PayloadHeader& header, const Span<std::byte>& payload);

/// Copies the header to the host. Throws Error if `payload` is too short, or if magic or version are wrong. Waits for
/// exec.
PayloadHeader read_header(const Exec& exec, const Span<const std::byte>& payload);

/// The same, but also throws Error if method, spec or element count are not the expected ones, or if a flag is not
/// among `known`.
PayloadHeader read_header(const Exec& exec, const Span<const std::byte>& payload, const PayloadHeader& expected,
                          std::uint32_t known = PayloadHeader::flag_diverged);

KOKKOS_INLINE_FUNCTION bool Admission::check(bool first) const {
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const bool same = words[0] == expected.magic &&
                    words[1] == (expected.version | static_cast<std::uint32_t>(expected.method) << 16) &&
                    words[2] == low(expected.elements) && words[3] == low(expected.elements >> 32) &&
                    words[4] == low(expected.kept) && words[5] == low(expected.kept >> 32) && words[7] == expected.spec;
  const std::uint32_t flags = words[6];
  if (same && flags == expected.flags) return true;
  if (!first) return false;
  if (same && flags == PayloadHeader::flag_diverged) {
    faults.diverged();
    if (out != nullptr) *out = Kokkos::Experimental::quiet_NaN_v<float>;
  } else {
    faults.broken();
  }
  return false;
}

}  // namespace gradcomp
