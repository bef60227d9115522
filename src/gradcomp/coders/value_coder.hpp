#pragma once
// Ways to write the values of a sparse payload; every section is a multiple of 4 bytes.
//
//   f32        4 bytes each, exact
//   f16, bf16  2 bytes each (kernels/quantise/casts.hpp), zero bytes to a multiple of 4; clamped to the format's
//   largest number int8       blocks of 256 values: all blocks' scales s as floats, then one signed byte q each
//   (decoded q s), zero
//              bytes to a multiple of 4. s = max|v| / 127, q = v / s to nearest, ties to even: |v - q s| <= s / 2 but
//              for rounding. A block whose s underflows to zero (max|v| < 2^-143) decodes to zeros
#include <string>

#include "gradcomp/core/types.hpp"

namespace gradcomp::coders {

/// On the wire: bits 12 to 15 of PayloadHeader::flags.
enum class ValueCoding : std::uint8_t { f32, f16, bf16, int8 };
inline constexpr int value_codings = 4;
inline constexpr index_t value_block = 256;

std::string to_string(ValueCoding coding);
/// A name of to_string(); throws Error for any other.
ValueCoding value_coding(const std::string& name);

/// Bytes of the section.
constexpr index_t value_bytes(ValueCoding coding, index_t kept) {
  if (coding == ValueCoding::f32) return 4 * kept;
  if (coding == ValueCoding::int8) return 4 * ((kept + value_block - 1) / value_block) + (kept + 3) / 4 * 4;
  return (kept + 1) / 2 * 4;
}

/// Writes `kept` finite values to `out` (aligned to 4 bytes) and what receivers decode for them to `decoded`, which may
/// be `values`. For f32 `out` may be `values` as well.
void encode_values(const Exec& exec, ValueCoding coding, const float* values, index_t kept, std::byte* out,
                   float* decoded);

/// Reads `kept` values into `values` and returns it; f32 only looks, and returns where they are in the section. Throws
/// Error, with `values` unspecified, unless `section` (aligned to 4 bytes) has exactly their length, all scales and
/// decoded values are finite, no scale is negative and padding is zero. Waits for exec.
const float* decode_values(const Exec& exec, ValueCoding coding, const Span<const std::byte>& section, index_t kept,
                           float* values);

}  // namespace gradcomp::coders
